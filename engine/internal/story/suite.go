package story

import (
	"slices"

	"time"

	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/evalengine/evalengine/engine/eval"
)

// What a suite has that says nothing else.
const (
	defaultRepeats = 1
	defaultTimeout = 10 * time.Minute
	defaultRetries = 2
	defaultCircuit = 5
)

// Bounds that no sensible suite passes.
const (
	maxRepeats = 10_000
	maxRetries = 100
)

func (l *loader) decodeSuite(b *hclsyntax.Block) {
	l.checkName("suite", b.Labels[0], b.LabelRanges[0])
	attrs, inner := l.content(b.Body, &suiteBody, b.DefRange())
	s := l.suite
	s.Name = b.Labels[0]
	s.Repeats, s.Timeout, s.Retries = defaultRepeats, defaultTimeout, defaultRetries
	if n, ok := l.intAttr(attrs["repeats"], l.root, 1, maxRepeats); ok {
		s.Repeats = n
	}
	if n, ok := l.intAttr(attrs["retries"], l.root, 0, maxRetries); ok {
		s.Retries = n
	}
	if d := l.durationAttr(attrs["timeout"], l.root); d > 0 {
		s.Timeout = d
	}
	s.OnTimeout = l.timeoutPolicy(attrs["on_timeout"])
	s.BudgetUSD = l.usdAttr(attrs["budget_usd"], l.root)
	l.suiteLimits(attrs, inner)
	if c := nested(b, "browser"); c != nil {
		s.Browser = l.browser(c)
	}
	l.suiteHosts(attrs["hosts"], b)
}

func (l *loader) timeoutPolicy(a *hclsyntax.Attribute) eval.TimeoutPolicy {
	if a == nil {
		return eval.TimeoutFails
	}
	text, ok := l.textAttr(a, l.root)
	switch p := eval.TimeoutPolicy(text); {
	case !ok:
		return eval.TimeoutFails
	case p == eval.TimeoutFails || p == eval.TimeoutJudged:
		return p
	}
	l.found.fail(a.Expr.Range(), "unknown policy", "\"on_timeout\" is \"fail\" (an agent that is not done in time has failed) or \"judge\" (the gates decide).")
	return eval.TimeoutFails
}

// suiteHosts settles which hosts the suite runs on: all that are declared, or
// those listed.
func (l *loader) suiteHosts(a *hclsyntax.Attribute, b *hclsyntax.Block) {
	names := l.order.hosts
	if a != nil {
		listed, ok := l.refsAttr(a, l.root, "host", l.root.hosts)
		if !ok {
			return
		}
		names = l.unique(a, listed)
		if len(names) == 0 {
			l.found.fail(a.Expr.Range(), "no hosts", "The list is empty. Leave \"hosts\" out to run on every host that is declared.")
		}
	} else if len(names) == 0 && len(l.blocks["host"]) == 0 {
		l.found.fail(b.DefRange(), "no hosts", "The suite has nothing to run on. Add a block: host \"name\" { driver = \"...\" }.")
	}
	l.suiteOwn = names
	for _, n := range l.chosen(names) {
		l.suite.Hosts = append(l.suite.Hosts, l.hosts[n].config)
	}
}

// chosen are the hosts that the caller asks for, of all that are declared; the
// suite's own where it asks for none.
func (l *loader) chosen(own []string) []string {
	var names []string
	for _, n := range l.order.hosts {
		if slices.ContainsFunc(l.opts.Hosts, func(g string) bool { return eval.MatchTool(g, "", n) }) {
			names = append(names, n)
		}
	}
	if len(names) == 0 {
		return own
	}
	return names
}

// unique leaves out what a list names again, with a warning.
func (l *loader) unique(a *hclsyntax.Attribute, names []string) []string {
	var out []string
	seen := map[string]bool{}
	for i, n := range names {
		if seen[n] {
			l.found.warn(elementRange(a.Expr, i), "duplicate element", "%q has %q already.", a.Name, n)
			continue
		}
		seen[n] = true
		out = append(out, n)
	}
	return out
}
