package rpc

import (
	"time"

	"github.com/evalengine/evalengine/engine/eval"
	recordv1 "github.com/evalengine/evalengine/proto/evalengine/record/v1"
)

// TrialToProto converts a trial.
func TrialToProto(t eval.Trial) *recordv1.Trial {
	return &recordv1.Trial{
		Story: valid(t.Story), Variant: valid(t.Variant), Host: valid(t.Host), Repeat: clamp32(t.Repeat),
	}
}

// TrialFromProto converts a trial; nil is the zero Trial.
func TrialFromProto(t *recordv1.Trial) eval.Trial {
	return eval.Trial{
		Story: t.GetStory(), Variant: t.GetVariant(), Host: t.GetHost(), Repeat: int(t.GetRepeat()),
	}
}

// StepToProto converts a step.
func StepToProto(s eval.Step) *recordv1.Step {
	return &recordv1.Step{
		Id: valid(s.ID), Turn: clamp32(s.Turn), Kind: valid(string(s.Kind)), Role: valid(s.Role),
		Text: valid(s.Text), CallId: valid(s.CallID), Server: valid(s.Server), Tool: valid(s.Tool),
		Arguments: raw(s.Arguments), BadArguments: s.BadArguments,
		Result: raw(s.Result), IsError: s.IsError,
		Bytes: s.Bytes, Truncated: s.Truncated, Observed: valid(string(s.Observed)), Parent: valid(s.Parent),
		AtMs: s.AtMS, DurationMs: s.DurationMS, Model: valid(s.Model),
	}
}

// StepFromProto converts a step; nil is the zero Step. Arguments and a result that are
// not JSON become texts, and the arguments are marked as bad.
func StepFromProto(s *recordv1.Step) eval.Step {
	if s == nil {
		return eval.Step{}
	}
	arguments, bad := wellFormed(s.Arguments)
	result, _ := wellFormed(s.Result)
	return eval.Step{
		ID: s.Id, Turn: int(s.Turn), Kind: eval.StepKind(s.Kind), Role: s.Role,
		Text: s.Text, CallID: s.CallId, Server: s.Server, Tool: s.Tool,
		Arguments: arguments, BadArguments: bad || s.BadArguments,
		Result: result, IsError: s.IsError,
		Bytes: s.Bytes, Truncated: s.Truncated, Observed: eval.Observation(s.Observed), Parent: s.Parent,
		AtMS: s.AtMs, DurationMS: s.DurationMs, Model: s.Model,
	}
}

// ToolToProto converts a tool.
func ToolToProto(t eval.Tool) *recordv1.Tool {
	return &recordv1.Tool{
		Server: valid(t.Server), Name: valid(t.Name), Description: valid(t.Description),
		InputSchema: raw(t.InputSchema), Annotations: raw(t.Annotations),
		Requires: validAll(t.Requires), Destructive: t.Destructive,
	}
}

// ToolFromProto converts a tool; nil is the zero Tool. What is not JSON becomes a text.
func ToolFromProto(t *recordv1.Tool) eval.Tool {
	if t == nil {
		return eval.Tool{}
	}
	schema, _ := wellFormed(t.InputSchema)
	annotations, _ := wellFormed(t.Annotations)
	return eval.Tool{
		Server: t.Server, Name: t.Name, Description: t.Description,
		InputSchema: schema, Annotations: annotations,
		Requires: t.Requires, Destructive: t.Destructive,
	}
}

// UsageToProto converts usage.
func UsageToProto(u eval.Usage) *recordv1.Usage {
	return &recordv1.Usage{
		Turns: clamp32(u.Turns), Requests: clamp32(u.Requests),
		InputTokens: u.InputTokens, CacheReadTokens: u.CacheReadTokens, CacheWriteTokens: u.CacheWriteTokens,
		OutputTokens: u.OutputTokens, ReasoningTokens: u.ReasoningTokens,
		CostUsd: u.CostUSD, LowerBound: u.LowerBound, Source: valid(u.Source), Models: validAll(u.Models),
	}
}

// UsageFromProto converts usage; nil is the zero Usage.
func UsageFromProto(u *recordv1.Usage) eval.Usage {
	if u == nil {
		return eval.Usage{}
	}
	return eval.Usage{
		Turns: int(u.Turns), Requests: int(u.Requests),
		InputTokens: u.InputTokens, CacheReadTokens: u.CacheReadTokens, CacheWriteTokens: u.CacheWriteTokens,
		OutputTokens: u.OutputTokens, ReasoningTokens: u.ReasoningTokens,
		CostUSD: finite(u.CostUsd), LowerBound: u.LowerBound, Source: u.Source, Models: u.Models,
	}
}

// FaultToProto converts a fault; nil stays nil.
func FaultToProto(f *eval.Fault) *recordv1.Fault {
	if f == nil {
		return nil
	}
	return &recordv1.Fault{
		Cause: valid(f.Cause), Retry: valid(string(f.Retry)), Detail: valid(f.Detail),
		Status: clamp32(f.Status), RetryAfterNs: int64(f.RetryAfter),
	}
}

// FaultFromProto converts a fault; nil stays nil. A fault that does not say what
// may be done about it, or says something unknown, may be retried.
func FaultFromProto(f *recordv1.Fault) *eval.Fault {
	if f == nil {
		return nil
	}
	out := &eval.Fault{
		Cause: f.Cause, Retry: eval.Retry(f.Retry), Detail: f.Detail,
		Status: int(f.Status), RetryAfter: max(0, time.Duration(f.RetryAfterNs)),
	}
	if out.Cause == "" {
		out.Cause = eval.CauseUnknown
	}
	switch out.Retry {
	case eval.RetryTrial, eval.RetryNever, eval.RetryStop:
	default:
		out.Retry = eval.RetryTrial
	}
	return out
}

// ScoreToProto converts a score.
func ScoreToProto(s eval.Score) *recordv1.Score {
	return &recordv1.Score{
		Name: valid(s.Name), Scorer: valid(s.Scorer), Role: valid(string(s.Role)),
		Dimension: valid(string(s.Dimension)), State: valid(string(s.State)),
		Value: s.Value, Raw: s.Raw, Unit: valid(s.Unit), LowerIsBetter: s.LowerIsBetter,
		Passed: s.Passed, Reason: valid(s.Reason), Evidence: convertAll(s.Evidence, EvidenceToProto),
		Samples: s.Samples, StdErr: s.StdErr, Judge: judgeToProto(s.Judge),
	}
}

func judgeToProto(j *eval.JudgeUse) *recordv1.JudgeUse {
	if j == nil {
		return nil
	}
	return &recordv1.JudgeUse{Usage: UsageToProto(j.Usage), Requests: validAll(j.Requests), Cached: j.Cached}
}

func judgeFromProto(j *recordv1.JudgeUse) *eval.JudgeUse {
	if j == nil {
		return nil
	}
	return &eval.JudgeUse{Usage: UsageFromProto(j.Usage), Requests: j.Requests, Cached: j.Cached}
}

// ScoreFromProto converts a score; nil is the zero Score.
func ScoreFromProto(s *recordv1.Score) eval.Score {
	if s == nil {
		return eval.Score{}
	}
	return eval.Score{
		Name: s.Name, Scorer: s.Scorer, Role: eval.Role(s.Role),
		Dimension: eval.Dimension(s.Dimension), State: eval.ScoreState(s.State),
		Value: s.Value, Raw: s.Raw, Unit: s.Unit, LowerIsBetter: s.LowerIsBetter,
		Passed: s.Passed, Reason: s.Reason, Evidence: convertAll(s.Evidence, EvidenceFromProto),
		Samples: s.Samples, StdErr: s.StdErr, Judge: judgeFromProto(s.Judge),
	}
}

// EvidenceToProto converts evidence.
func EvidenceToProto(e eval.Evidence) *recordv1.Evidence {
	return &recordv1.Evidence{Step: valid(e.Step), Page: valid(e.Page), Pointer: valid(e.Pointer), Quote: valid(e.Quote)}
}

// EvidenceFromProto converts evidence; nil is the zero Evidence.
func EvidenceFromProto(e *recordv1.Evidence) eval.Evidence {
	return eval.Evidence{Step: e.GetStep(), Page: e.GetPage(), Pointer: e.GetPointer(), Quote: e.GetQuote()}
}

// FindingToProto converts a finding.
func FindingToProto(f eval.Finding) *recordv1.Finding {
	return &recordv1.Finding{
		Kind: valid(f.Kind), Tool: valid(f.Tool), Action: valid(f.Action), Severity: valid(string(f.Severity)), Text: valid(f.Text),
		Evidence: convertAll(f.Evidence, EvidenceToProto), Suggestion: valid(f.Suggestion),
		Source: valid(f.Source), Fingerprint: valid(f.Fingerprint), Unverified: f.Unverified,
	}
}

// FindingFromProto converts a finding; nil is the zero Finding.
func FindingFromProto(f *recordv1.Finding) eval.Finding {
	if f == nil {
		return eval.Finding{}
	}
	return eval.Finding{
		Kind: f.Kind, Tool: f.Tool, Action: f.Action, Severity: eval.Severity(f.Severity), Text: f.Text,
		Evidence: convertAll(f.Evidence, EvidenceFromProto), Suggestion: f.Suggestion,
		Source: f.Source, Fingerprint: f.Fingerprint, Unverified: f.Unverified,
	}
}
