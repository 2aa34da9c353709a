package story

import (
	"math"
	"net/url"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/evalengine/evalengine/engine/eval"
)

// Bounds that no sensible limit passes.
const (
	maxLimit       = 1_000_000
	maxTokens      = 1_000_000_000_000
	maxConcurrency = 10_000
)

// suiteLimits reads what bounds a run.
func (l *loader) suiteLimits(attrs attributes, inner []*hclsyntax.Block) {
	s := l.suite
	s.Circuit = defaultCircuit
	if n, ok := l.intAttr(attrs["circuit"], l.root, 0, maxLimit); ok {
		s.Circuit = n
	}
	s.MaxTrials, _ = l.intAttr(attrs["max_trials"], l.root, 1, maxLimit)
	for _, b := range inner {
		switch b.Type {
		case "limits":
			s.Limits = l.limits(b, l.root)
		case "provider":
			if p, ok := l.provider(b); ok {
				s.Providers = append(s.Providers, p)
			}
		}
	}
}

// limits reads the caps of a trial.
func (l *loader) limits(b *hclsyntax.Block, s *scope) eval.Limits {
	attrs, _ := l.content(b.Body, &limitsBody, b.DefRange())
	if len(attrs) == 0 {
		l.found.warn(b.DefRange(), "limits without effect", "Set turns, tokens, tool_bytes or usd.")
	}
	var out eval.Limits
	out.Turns, _ = l.intAttr(attrs["turns"], s, 1, maxLimit)
	tokens, _ := l.intAttr(attrs["tokens"], s, 1, maxTokens)
	out.Tokens = int64(tokens)
	out.ToolBytes = l.sizeAttr(attrs["tool_bytes"], s)
	out.USD = l.usdAttr(attrs["usd"], s)
	return out
}

// usdAttr takes an amount of money above 0.
func (l *loader) usdAttr(a *hclsyntax.Attribute, s *scope) float64 {
	v, ok := l.typed(a, s, cty.Number)
	if !ok {
		return 0
	}
	usd, _ := v.AsBigFloat().Float64()
	if usd <= 0 || math.IsInf(usd, 0) {
		l.found.fail(a.Expr.Range(), "number out of range", "%q is greater than 0; leave it out for no bound.", a.Name)
		return 0
	}
	return usd
}

// provider reads a provider block, whose label is the scheme and host of the
// provider's base URL.
func (l *loader) provider(b *hclsyntax.Block) (eval.ProviderConfig, bool) {
	attrs, _ := l.content(b.Body, &providerBody, b.DefRange())
	p := eval.ProviderConfig{Source: toSource(b.DefRange())}
	p.Concurrency, _ = l.intAttr(attrs["concurrency"], l.root, 1, maxConcurrency)
	p.RequestsPerMinute, _ = l.intAttr(attrs["requests_per_minute"], l.root, 1, maxLimit)
	u, err := url.Parse(b.Labels[0])
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" {
		l.found.fail(b.LabelRanges[0], "unusable provider", "The label is the scheme and host of the provider's base URL, such as \"https://api.anthropic.com\".")
		return p, false
	}
	p.Name = eval.ProviderOf(b.Labels[0])
	if len(attrs) == 0 {
		l.found.warn(b.DefRange(), "provider without effect", "Set concurrency or requests_per_minute.")
	}
	if slices.ContainsFunc(l.suite.Providers, func(o eval.ProviderConfig) bool { return o.Name == p.Name }) {
		l.found.fail(b.LabelRanges[0], "duplicate provider", "There is a block for %q already. Put both into one.", p.Name)
		return p, false
	}
	return p, true
}
