package stream

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/evalengine/evalengine/engine/eval"
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
	StopMissing // a server is not connected
)

// End is how a turn came to its end.
type End struct {
	Stop Stop
	// Exit is how the process ended; nil where it goes on.
	Exit   *agentproc.Exit
	Stderr string
}

// Result says how the turn ended. The error is a [*eval.Fault]: then the turn says
// nothing of the agent, though the TurnResult still holds what it consumed.
//
// Neither the closing line's subtype (an API failure says "success") nor the exit
// code (0 without any MCP server) decides alone.
func (p *Parser) Result(end End) (eval.TurnResult, error) {
	defer p.notes.Close()
	r := eval.TurnResult{
		Answer: p.answer(), Usage: p.usage(), AgentVersion: p.version, Retries: p.retries,
	}
	if missing := p.Missing(); len(missing) > 0 {
		return r, agentout.Fault(eval.CauseMCP, eval.RetryTrial,
			"the agent started without its MCP servers: "+strings.Join(missing, ", "))
	}
	if p.result == nil || (end.Stop != StopNone && p.interrupted()) {
		switch end.Stop {
		case StopTime:
			r.Outcome, r.Detail = eval.TimedOut, p.progress()
			return r, nil
		case StopTurns:
			r.Outcome, r.Detail = eval.MaxTurns, p.progress()
			return r, nil
		}
	}
	if p.result == nil {
		return r, p.noResult(end)
	}
	if f := p.fault(); f != nil {
		r.Usage.LowerBound = r.Usage.LowerBound || uncounted(f)
		return r, f
	}
	r.Outcome, r.Detail = p.outcome()
	if r.Outcome == eval.Completed && r.Answer == "" && len(p.calls) == 0 {
		r.Outcome, r.Detail = eval.GaveUp, "the agent ended its turn with neither an answer nor a call"
	}
	return r, nil
}

// uncounted reports whether the model may have worked for an answer that never
// arrived whole.
func uncounted(f *eval.Fault) bool {
	switch f.Cause {
	case eval.CauseStream, eval.CauseModelHang, eval.CauseOverloaded, eval.CauseUnknown, eval.CauseHost:
		return f.Status == 0
	}
	return false
}

func (p *Parser) answer() string {
	if p.result != nil && p.result.Result != "" && !p.result.IsError {
		return string(p.result.Result)
	}
	return p.lastText
}

// interrupted reports whether the closing line is that of a turn that was ended
// from outside.
func (p *Parser) interrupted() bool {
	return aborted(p.result.Terminal) || p.result.Subtype == "error_during_execution"
}

func (p *Parser) progress() string {
	return fmt.Sprintf("stopped after %d model responses and %d steps", len(p.messages), p.steps)
}

// outcome is of a turn that is the agent's own.
func (p *Parser) outcome() (eval.Outcome, string) {
	e := p.result
	said := strings.TrimSpace(agentout.Cut(p.words(), agentout.MaxDetail))
	switch {
	case e.Subtype == "error_max_turns" || e.Terminal == "max_turns":
		return eval.MaxTurns, said
	case e.Subtype == "error_max_budget_usd":
		return eval.MaxBudget, said
	case p.contextExceeded():
		return eval.ContextExceeded, said
	case e.StopReason == "refusal":
		return eval.Refused, said
	case p.failure == "max_output_tokens" || e.StopReason == "max_tokens":
		return eval.MaxOutput, said
	case e.Subtype == "error_max_structured_output_retries":
		return eval.GaveUp, said
	}
	return eval.Completed, ""
}

// words is what the closing line says in prose.
func (p *Parser) words() string {
	if p.result.Result != "" {
		return string(p.result.Result)
	}
	var list []string
	for _, e := range p.result.Errors {
		list = append(list, string(e))
	}
	return strings.Join(list, "; ")
}

func (p *Parser) contextExceeded() bool {
	return p.result.Terminal == "prompt_too_long" || p.result.APIStatus == 413 ||
		(p.result.IsError && strings.HasPrefix(string(p.result.Result), "Prompt is too long"))
}

// fault is why a turn with a closing line is no evidence of the agent, nil where
// it is.
func (p *Parser) fault() *eval.Fault {
	e, said := p.result, p.words()
	if o, _ := p.outcome(); o != eval.Completed {
		return nil
	}
	switch {
	case e.IsError && e.APIStatus != 0:
		return p.statusFault(int(e.APIStatus), said)
	case p.failure != "":
		return p.failureFault(said)
	case e.Subtype == "error_during_execution" || aborted(e.Terminal):
		return agentout.Fault(eval.CauseHost, eval.RetryTrial, "the agent program broke off: "+said)
	case e.IsError:
		return agentout.Fault(eval.CauseUnknown, eval.RetryTrial, said)
	}
	if f := p.hollow(said); f != nil {
		return f
	}
	return p.denied()
}

func (p *Parser) statusFault(status int, said string) *eval.Fault {
	if p.failure == "billing_error" {
		f := agentout.Fault(eval.CauseBilling, eval.RetryStop, said)
		f.Status = status
		return f
	}
	f := agentout.StatusFault(status, said)
	if f.Cause == eval.CauseBadRequest && p.answered {
		// The settings were good for an earlier request, so another trial may well
		// pass; this one would not.
		f.Retry = eval.RetryNever
	}
	return f
}

// failureFault sorts a failure that has no status by the agent program's own word
// for it, then by its text.
func (p *Parser) failureFault(said string) *eval.Fault {
	switch p.failure {
	case "authentication_failed", "oauth_org_not_allowed":
		return agentout.Fault(eval.CauseAuth, eval.RetryStop, said)
	case "billing_error":
		return agentout.Fault(eval.CauseBilling, eval.RetryStop, said)
	case "model_not_found":
		return agentout.Fault(eval.CauseModel, eval.RetryStop, said)
	case "rate_limit":
		return agentout.Fault(eval.CauseRateLimit, eval.RetryTrial, said)
	case "overloaded":
		return agentout.Fault(eval.CauseOverloaded, eval.RetryTrial, said)
	case "invalid_request":
		return agentout.Fault(eval.CauseBadRequest, eval.RetryNever, said)
	}
	if status := agentout.StatusIn(said); status != 0 {
		return p.statusFault(status, said)
	}
	for _, w := range wordings {
		if w.re.MatchString(said) {
			return agentout.Fault(w.cause, eval.RetryTrial, said)
		}
	}
	// An answer that the agent program could not read: no error, but not a model's
	// answer either.
	return agentout.Fault(eval.CauseStream, eval.RetryTrial, said)
}

// wordings are how the agent program tells of failures below HTTP.
var wordings = []struct {
	re    *regexp.Regexp
	cause string
}{
	{regexp.MustCompile(`(?i)timed out|timeout`), eval.CauseModelHang},
	{regexp.MustCompile(`(?i)overloaded`), eval.CauseOverloaded},
	{regexp.MustCompile(`(?i)unable to connect|refused|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|certificate`), eval.CauseNetwork},
	{regexp.MustCompile(`(?i)ECONNRESET|connection .*lost|stream|JSON|socket|terminated`), eval.CauseStream},
}

// failed is how agents word a refusal of the model's provider that they pass off
// as their answer.
var failed = regexp.MustCompile(`(?i)^\s*(API (?:error|call failed)|request (?:failed|timed out)|error:? .{0,40}\bHTTP [45]\d\d)`)

// hollow finds an answer behind which there was no model: it counts no tokens and
// called nothing.
func (p *Parser) hollow(said string) *eval.Fault {
	u := p.usage()
	if u.InputTokens+u.OutputTokens > 0 || len(p.calls) > 0 {
		return nil
	}
	if failed.MatchString(said) {
		return p.failureFault(said)
	}
	if len(p.messages) == 0 {
		return agentout.Fault(eval.CauseHost, eval.RetryNever,
			"the agent program ended its turn without asking its model: "+said)
	}
	return nil
}

// denied finds calls of the target's tools that the agent program withheld: every
// one of them was to be allowed.
func (p *Parser) denied() *eval.Fault {
	for _, d := range p.result.Denials {
		if server, tool := p.names.Split(d.Tool); server != "" {
			return agentout.Fault(eval.CauseApproval, eval.RetryNever,
				fmt.Sprintf("the agent program withheld %s of server %s, which it was told to allow", tool, server))
		}
		p.notes.Add("the agent program withheld its built-in tool %s", d.Tool)
	}
	return nil
}

// refusedSettings is what the agent program says of a command line or a file that
// it does not take.
var refusedSettings = regexp.MustCompile(`(?i)invalid|unknown option|unknown argument|missing required|cannot be used|must be provided|not a valid|error: option`)

func (p *Parser) noResult(end End) *eval.Fault {
	stderr := strings.TrimSpace(end.Stderr)
	how := "the agent's output ended without a closing line"
	if end.Exit != nil {
		how += ", " + end.Exit.String()
	}
	detail := how
	if stderr != "" {
		detail += ": " + agentout.Cut(stderr, agentout.MaxDetail-len(how)-2)
	}
	if p.lines == 0 && end.Exit != nil && end.Exit.Code > 0 && end.Exit.Code < 128 && refusedSettings.MatchString(stderr) {
		return agentout.Fault(eval.CauseHostConfig, eval.RetryStop, detail)
	}
	if p.lines == 0 {
		return agentout.Fault(eval.CauseHost, eval.RetryTrial, detail)
	}
	return agentout.Fault(eval.CauseNoTerminal, eval.RetryTrial, detail)
}
