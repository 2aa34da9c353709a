package rpc

import (
	"time"

	"github.com/evalengine/evalengine/engine/eval"
	provisionerv1 "github.com/evalengine/evalengine/proto/evalengine/provisioner/v1"
)

func provisionRequestToProto(r eval.ProvisionRequest) *provisionerv1.ProvisionRequest {
	return &provisionerv1.ProvisionRequest{
		Trial: TrialToProto(r.Trial), Config: raw(r.Config), WorkDir: valid(r.WorkDir),
		Env: validMap(r.Env), Nonce: valid(r.Nonce),
	}
}

func provisionRequestFromProto(r *provisionerv1.ProvisionRequest) eval.ProvisionRequest {
	return eval.ProvisionRequest{
		Trial: TrialFromProto(r.GetTrial()), Config: fromRaw(r.GetConfig()), WorkDir: r.GetWorkDir(),
		Env: r.GetEnv(), Nonce: r.GetNonce(),
	}
}

func targetToProto(t eval.Target) *provisionerv1.Target {
	return &provisionerv1.Target{
		Id: valid(t.ID), Values: raw(t.Values),
		Servers: convertAll(t.Servers, serverToProto), Secrets: validAll(t.Secrets),
	}
}

func targetFromProto(t *provisionerv1.Target) eval.Target {
	values, _ := wellFormed(t.GetValues())
	return eval.Target{
		ID: t.GetId(), Values: values,
		Servers: convertAll(t.GetServers(), serverFromProto), Secrets: t.GetSecrets(),
	}
}

func serverToProto(s eval.Server) *provisionerv1.Server {
	return &provisionerv1.Server{
		Name: valid(s.Name), Command: valid(s.Command), Args: validAll(s.Args), Env: validMap(s.Env),
		Dir: valid(s.Dir), Url: valid(s.URL), Headers: validMap(s.Headers),
		StartTimeoutNs: int64(s.StartTimeout),
	}
}

func serverFromProto(s *provisionerv1.Server) eval.Server {
	return eval.Server{
		Name: s.GetName(), Command: s.GetCommand(), Args: s.GetArgs(), Env: s.GetEnv(),
		Dir: s.GetDir(), URL: s.GetUrl(), Headers: s.GetHeaders(),
		StartTimeout: max(0, time.Duration(s.GetStartTimeoutNs())),
	}
}
