package stream

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/plugins/evalengine-host-codex/rollout"
	"github.com/evalengine/evalengine/plugins/host/agentout"
	"github.com/evalengine/evalengine/plugins/host/agentproc"
)

// Stop says why a turn was ended from outside. The zero Stop is of a turn that
// was not.
type Stop int

// Reasons to end a turn.
const (
	StopNone Stop = iota
	StopTime
	StopTurns
)

// End is how a turn came to its end.
type End struct {
	Stop   Stop
	Exit   agentproc.Exit
	Stderr string
}

// Result says how the turn ended. The error is a [*eval.Fault]: then the turn says
// nothing of the agent, though the TurnResult still holds what it consumed.
//
// Only turn.completed is the agent's own end, and of turn.failed those that say
// so; a stream that ends with neither is a fault whatever the exit code.
func (p *Parser) Result(end End) (eval.TurnResult, error) {
	defer p.notes.Close()
	r := eval.TurnResult{
		Answer: p.answer, Usage: p.usage(), AgentVersion: p.version, Retries: p.retries,
	}
	p.settle(r.Usage)
	r.Usage.Add(p.subs)
	switch {
	case p.denied != "":
		return r, agentout.Fault(eval.CauseApproval, eval.RetryNever,
			fmt.Sprintf("the agent program withheld %s, which it was told to allow", p.denied))
	case p.completed():
		return p.ended(r)
	case end.Stop == StopTime:
		r.Outcome, r.Detail = eval.TimedOut, p.progress(r)
		return r, nil
	case end.Stop == StopTurns:
		r.Outcome, r.Detail = eval.MaxTurns, p.progress(r)
		return r, nil
	case p.done != nil:
		return p.failed(r)
	}
	return r, p.noResult(end)
}

func (p *Parser) progress(r eval.TurnResult) string {
	return fmt.Sprintf("stopped after %d model responses and %d steps", r.Usage.Turns, p.steps)
}

// providerFailed is how agents word a refusal of the model's provider that they
// pass off as their answer.
var providerFailed = regexp.MustCompile(`(?i)^\s*(API (?:error|call failed)|request (?:failed|timed out)|error:? .{0,40}\bHTTP [45]\d\d)`)

// ended is a turn that the agent itself ended.
func (p *Parser) ended(r eval.TurnResult) (eval.TurnResult, error) {
	if p.called == 0 {
		if r.Usage.InputTokens+r.Usage.OutputTokens == 0 && providerFailed.MatchString(r.Answer) {
			return r, p.faultOf(failure{message: r.Answer})
		}
		if r.Answer == "" {
			// The program shows nothing of a model that declined.
			r.Outcome, r.Detail = eval.GaveUp, "the agent ended its turn with neither an answer nor a call"
			return r, nil
		}
	}
	r.Outcome = eval.Completed
	return r, nil
}

// failure is why a turn failed: the program's own word for it, where it is known,
// the HTTP status, and the text.
type failure struct {
	kind    string
	status  int
	message string
}

func (p *Parser) failed(r eval.TurnResult) (eval.TurnResult, error) {
	f := failure{message: string(p.done.Error.Message)}
	if f.message == "" {
		f.message = p.lastError
	}
	if p.file != nil && p.file.Failure != (rollout.Failure{}) {
		f.kind, f.status = p.file.Failure.Kind, p.file.Failure.Status
		if f.message == "" {
			f.message = p.file.Failure.Message
		}
	}
	if o := f.outcome(); o != "" {
		r.Outcome, r.Detail = o, agentout.Cut(f.message, agentout.MaxDetail)
		return r, nil
	}
	return r, p.faultOf(f)
}

// outcome is the agent's own failure that it was, empty where it was none.
func (f failure) outcome() eval.Outcome {
	switch {
	case f.kind == "context_window_exceeded", strings.Contains(f.message, "ran out of room in the model's context window"):
		return eval.ContextExceeded
	case strings.Contains(f.message, "reason: max_output_tokens"):
		return eval.MaxOutput
	case strings.Contains(f.message, "reason: content_filter"), refusals[f.kind]:
		return eval.Refused
	}
	return ""
}

// refusals are the kinds by which a provider declines what was asked.
var refusals = map[string]bool{
	"content_filter": true, "content_policy_violation": true, "cyber_policy": true, "bio_policy": true,
	"misalignment_policy_violation": true, "invalid_prompt": true,
}

// known are the kinds whose cause is certain.
var known = map[string]struct {
	cause string
	retry eval.Retry
}{
	"usage_limit_exceeded":              {eval.CauseBilling, eval.RetryStop},
	"usage_limit_reached":               {eval.CauseBilling, eval.RetryStop},
	"quota_exceeded":                    {eval.CauseBilling, eval.RetryStop},
	"usage_not_included":                {eval.CauseBilling, eval.RetryStop},
	"unauthorized":                      {eval.CauseAuth, eval.RetryStop},
	"workspace_access_denied":           {eval.CauseAuth, eval.RetryStop},
	"refresh_token_failed":              {eval.CauseAuth, eval.RetryStop},
	"model_not_found":                   {eval.CauseModel, eval.RetryStop},
	"rate_limit_exceeded":               {eval.CauseRateLimit, eval.RetryTrial},
	"server_overloaded":                 {eval.CauseOverloaded, eval.RetryTrial},
	"internal_server_error":             {eval.CauseServer, eval.RetryTrial},
	"response_stream_disconnected":      {eval.CauseStream, eval.RetryTrial},
	"response_stream_connection_failed": {eval.CauseNetwork, eval.RetryTrial},
	"sandbox_error":                     {eval.CauseHost, eval.RetryTrial},
}

// wordings are how the program tells of failures to which it gives no kind.
var wordings = []struct {
	re    *regexp.Regexp
	cause string
	retry eval.Retry
}{
	{regexp.MustCompile(`(?i)missing environment variable`), eval.CauseAuth, eval.RetryStop},
	{regexp.MustCompile(`(?i)\bquota\b|usage limit`), eval.CauseBilling, eval.RetryStop},
	{regexp.MustCompile(`(?i)model .{0,200}does not exist`), eval.CauseModel, eval.RetryStop},
	{regexp.MustCompile(`(?i)rate limit`), eval.CauseRateLimit, eval.RetryTrial},
	{regexp.MustCompile(`(?i)at capacity|overloaded`), eval.CauseOverloaded, eval.RetryTrial},
	{regexp.MustCompile(`(?i)high demand|internal server error`), eval.CauseServer, eval.RetryTrial},
	{regexp.MustCompile(`(?i)stream disconnected|stream closed`), eval.CauseStream, eval.RetryTrial},
	{regexp.MustCompile(`(?i)timed? ?out|timeout`), eval.CauseModelHang, eval.RetryTrial},
	{regexp.MustCompile(`(?i)connection failed|error sending request|waiting for network`), eval.CauseNetwork, eval.RetryTrial},
	{regexp.MustCompile(`invalid_request_error`), eval.CauseBadRequest, eval.RetryStop},
}

func (p *Parser) faultOf(f failure) *eval.Fault {
	if f.status == 0 {
		f.status = agentout.StatusIn(f.message)
	}
	fault := agentout.Fault(eval.CauseUnknown, eval.RetryTrial, f.message)
	switch k, ok := known[f.kind]; {
	case ok:
		fault.Cause, fault.Retry = k.cause, k.retry
	case f.status != 0:
		fault = agentout.StatusFault(f.status, f.message)
	case f.kind == "bad_request" || f.kind == "invalid_request":
		fault.Cause, fault.Retry = eval.CauseBadRequest, eval.RetryStop
	default:
		for _, w := range wordings {
			if w.re.MatchString(f.message) {
				fault.Cause, fault.Retry = w.cause, w.retry
				break
			}
		}
	}
	if fault.Cause == eval.CauseBadRequest && p.answered {
		// The settings were good for an earlier request, so another trial may well
		// pass; this one would not.
		fault.Retry = eval.RetryNever
	}
	fault.Status, fault.RetryAfter = f.status, agentout.RetryAfter(f.message)
	return fault
}

var (
	// serversDown names the servers that the program could not do without.
	serversDown = regexp.MustCompile(`required MCP servers failed to initialize: (.*)`)
	// refusedSettings is what the program says of a command line or a file that it
	// does not take.
	refusedSettings = regexp.MustCompile(`(?i)error loading config|error parsing|unexpected argument|invalid value|model provider .* not found|missing field|unknown (?:variant|field|feature)|cannot be used with|no prompt provided`)
)

func (p *Parser) noResult(end End) *eval.Fault {
	stderr := strings.TrimSpace(end.Stderr)
	if m := serversDown.FindStringSubmatch(stderr); m != nil && p.lines == 0 {
		return agentout.Fault(eval.CauseMCP, eval.RetryTrial, "the agent could not start its MCP servers: "+p.ownNames(m[1]))
	}
	detail := "the agent's output ended without a closing line, " + end.Exit.String()
	if p.lastError != "" {
		detail += ": " + agentout.Cut(p.lastError, 300)
	}
	if stderr != "" {
		detail += ": " + agentout.Cut(stderr, agentout.MaxDetail-len(detail)-2)
	}
	if p.lines > 0 {
		return agentout.Fault(eval.CauseNoTerminal, eval.RetryTrial, detail)
	}
	if code := end.Exit.Code; code > 0 && code < 128 && refusedSettings.MatchString(stderr) {
		return agentout.Fault(eval.CauseHostConfig, eval.RetryStop, detail)
	}
	return agentout.Fault(eval.CauseHost, eval.RetryTrial, detail)
}

// ownNames puts the servers' own names into what the program says of them.
func (p *Parser) ownNames(list string) string {
	for _, s := range p.names.Servers() {
		if w := p.names.Wire(s); w != s {
			list = strings.ReplaceAll(list, w+":", s+":")
		}
	}
	return list
}
