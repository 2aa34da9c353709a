package rpc

import (
	"github.com/evalengine/evalengine/engine/eval"
	hostv1 "github.com/evalengine/evalengine/proto/evalengine/host/v1"
)

func sessionSpecToProto(s eval.SessionSpec) *hostv1.SessionSpec {
	p := &hostv1.SessionSpec{
		Trial: TrialToProto(s.Trial), Config: raw(s.Config),
		Home: valid(s.Home), WorkDir: valid(s.WorkDir), RawDir: valid(s.RawDir),
		Env: validMap(s.Env), Servers: convertAll(s.Servers, endpointToProto), Turns: clamp32(s.Turns),
		Isolation: &hostv1.Isolation{
			Policy: valid(string(s.Isolation.Policy)), Hidden: validAll(s.Isolation.Hidden),
			Writable: validAll(s.Isolation.Writable), Readable: validAll(s.Isolation.Readable),
		},
	}
	if m := s.Model; m != nil {
		p.Model = &hostv1.ModelEndpoint{BaseUrl: valid(m.BaseURL), Key: valid(m.Key)}
	}
	return p
}

func sessionSpecFromProto(p *hostv1.SessionSpec) eval.SessionSpec {
	s := eval.SessionSpec{
		Trial: TrialFromProto(p.GetTrial()), Config: fromRaw(p.GetConfig()),
		Home: p.GetHome(), WorkDir: p.GetWorkDir(), RawDir: p.GetRawDir(),
		Env: p.GetEnv(), Servers: convertAll(p.GetServers(), endpointFromProto), Turns: int(p.GetTurns()),
		Isolation: eval.Isolation{
			Policy: eval.IsolationPolicy(p.GetIsolation().GetPolicy()), Hidden: p.GetIsolation().GetHidden(),
			Writable: p.GetIsolation().GetWritable(), Readable: p.GetIsolation().GetReadable(),
		},
	}
	if m := p.GetModel(); m != nil {
		s.Model = &eval.ModelEndpoint{BaseURL: m.BaseUrl, Key: m.Key}
	}
	return s
}

func endpointToProto(e eval.Endpoint) *hostv1.Endpoint {
	return &hostv1.Endpoint{
		Name: valid(e.Name), Url: valid(e.URL), Token: valid(e.Token), Shim: validAll(e.Shim),
	}
}

func endpointFromProto(e *hostv1.Endpoint) eval.Endpoint {
	return eval.Endpoint{Name: e.GetName(), URL: e.GetUrl(), Token: e.GetToken(), Shim: e.GetShim()}
}

// eventToProto converts an event; nil for one with no field set.
func eventToProto(e eval.Event) *hostv1.Event {
	switch {
	case e.Step != nil:
		return &hostv1.Event{Event: &hostv1.Event_Step{Step: StepToProto(cutStep(*e.Step))}}
	case e.Progress != "":
		return &hostv1.Event{Event: &hostv1.Event_Progress{Progress: valid(e.Progress)}}
	case e.Warning != "":
		return &hostv1.Event{Event: &hostv1.Event_Warning{Warning: valid(e.Warning)}}
	}
	return nil
}

// eventFromProto converts an event; ok is false for a kind that this engine does
// not know.
func eventFromProto(p *hostv1.Event) (e eval.Event, ok bool) {
	switch v := p.GetEvent().(type) {
	case *hostv1.Event_Step:
		s := StepFromProto(v.Step)
		return eval.Event{Step: &s}, true
	case *hostv1.Event_Progress:
		return eval.Event{Progress: v.Progress}, true
	case *hostv1.Event_Warning:
		return eval.Event{Warning: v.Warning}, true
	}
	return eval.Event{}, false
}

func turnDoneToProto(r eval.TurnResult, f *eval.Fault) *hostv1.TurnDone {
	return &hostv1.TurnDone{
		Outcome: valid(string(r.Outcome)), Answer: valid(r.Answer), Detail: valid(r.Detail),
		Usage: UsageToProto(r.Usage), AgentVersion: valid(r.AgentVersion), Retries: clamp32(r.Retries),
		Fault: FaultToProto(f), Isolated: valid(string(r.Isolated)),
	}
}

func turnDoneFromProto(d *hostv1.TurnDone) (eval.TurnResult, *eval.Fault) {
	return eval.TurnResult{
		Outcome: eval.Outcome(d.GetOutcome()), Answer: d.GetAnswer(), Detail: d.GetDetail(),
		Usage: UsageFromProto(d.GetUsage()), AgentVersion: d.GetAgentVersion(), Retries: int(d.GetRetries()),
		Isolated: eval.Isolated(d.GetIsolated()),
	}, FaultFromProto(d.GetFault())
}
