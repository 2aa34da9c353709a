package rpc

import (
	"context"
	"io"
	"os"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"

	"github.com/evalengine/evalengine/engine/eval"
	hostv1 "github.com/evalengine/evalengine/proto/evalengine/host/v1"
	modelv1 "github.com/evalengine/evalengine/proto/evalengine/model/v1"
	provisionerv1 "github.com/evalengine/evalengine/proto/evalengine/provisioner/v1"
)

// adapter is one kind's entry in go-plugin's plugin set. In a plugin one of host,
// prov and model is set; in the engine none.
type adapter struct {
	plugin.NetRPCUnsupportedPlugin
	kind, name string

	host *hostServer
	prov *provisionerServer

	model *modelServer
}

var _ plugin.GRPCPlugin = (*adapter)(nil)

// GRPCServer registers the plugin's half.
func (a *adapter) GRPCServer(_ *plugin.GRPCBroker, s *grpc.Server) error {
	if a.host != nil {
		hostv1.RegisterHostServiceServer(s, a.host)
	}
	if a.model != nil {
		modelv1.RegisterModelServiceServer(s, a.model)
	}
	if a.prov != nil {
		provisionerv1.RegisterProvisionerServiceServer(s, a.prov)
	}
	return nil
}

// GRPCClient returns the engine's half: an [eval.Host], [eval.Provisioner] or
// [eval.ModelProvider].
func (a *adapter) GRPCClient(_ context.Context, _ *plugin.GRPCBroker, conn *grpc.ClientConn) (any, error) {
	switch a.kind {
	case KindHost:
		return NewHost(a.name, conn), nil
	case KindModel:
		return NewModel(a.name, conn), nil
	}
	return NewProvisioner(a.name, conn), nil
}

// ServeHost serves h until the engine is done with it. It must be the last thing
// that main does: stdout belongs to it.
func ServeHost(h eval.Host) {
	life := newLifetime()
	a := &adapter{kind: KindHost, host: &hostServer{host: h, life: life}}
	serve(a, func() { life.end(drainTimeout) })
}

// ServeProvisioner serves p until the engine is done with it, and destroys the
// targets that are left. It must be the last thing that main does: stdout belongs
// to it.
func ServeProvisioner(p eval.Provisioner) {
	life := newLifetime()
	s := newProvisionerServer(p, life)
	serve(&adapter{kind: KindProvisioner, prov: s}, func() {
		life.end(drainTimeout)
		s.destroyAll(drainTimeout)
	})
}

func newProvisionerServer(p eval.Provisioner, life *lifetime) *provisionerServer {
	return &provisionerServer{prov: p, life: life, alive: map[string]bool{}}
}

func serve(a *adapter, end func()) {
	if os.Getenv(EnvLifetime) == "stdin" {
		go func() {
			_, _ = io.Copy(io.Discard, os.Stdin)
			end()
			os.Exit(0)
		}()
	}
	plugin.Serve(&plugin.ServeConfig{
		HandshakeConfig:  Handshake(),
		VersionedPlugins: map[int]plugin.PluginSet{1: {a.kind: a}},
		GRPCServer:       newServer,
		Logger: hclog.New(&hclog.LoggerOptions{
			Output: os.Stderr, Level: hclog.Error, TimeFn: time.Now,
		}),
	})
	end()
}

// streamWorkers is how many goroutines with grown stacks wait for streams; with
// more streams than that, the others get goroutines of their own.
const streamWorkers = 8

func newServer(opts []grpc.ServerOption) *grpc.Server {
	return grpc.NewServer(append(opts,
		grpc.MaxRecvMsgSize(MaxMessage), grpc.MaxSendMsgSize(MaxMessage),
		grpc.StaticStreamWindowSize(window), grpc.StaticConnWindowSize(window),
		grpc.NumStreamWorkers(streamWorkers))...)
}
