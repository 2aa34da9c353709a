package story

import (
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/evalengine/evalengine/engine/eval"
)

func (l *loader) isolationPolicy(a *hclsyntax.Attribute) eval.IsolationPolicy {
	if a == nil {
		return eval.IsolationAuto
	}
	text, ok := l.textAttr(a, l.root)
	switch p := eval.IsolationPolicy(text); {
	case !ok:
		return eval.IsolationAuto
	case p == eval.IsolationAuto || p == eval.IsolationRequired || p == eval.IsolationOff:
		return p
	}
	l.found.fail(a.Expr.Range(), "unknown policy", "\"isolation\" is \"auto\" (where the machine can), \"require\" or \"none\".")
	return eval.IsolationAuto
}

// isolated holds what a host asks for against what its driver can do here. A
// driver without folders has no agent program that could reach anything.
func (l *loader) isolated(h *hostBlock, d eval.Description) {
	if d.Has(eval.CapIsolation) || d.Has(eval.CapNoFolders) {
		return
	}
	why := "its driver does not know how to"
	for _, n := range d.Needs {
		if n.Name == "isolation" && n.Version == "" {
			why = n.Path
		}
	}
	switch h.config.Isolation {
	case eval.IsolationRequired:
		l.found.fail(h.isolation, "isolation cannot be had", "The agent of host.%s cannot be kept from what is not its own here: %s. evalengine doctor says more.", h.config.Name, why)
	case eval.IsolationAuto:
		l.found.warn(h.isolation, "host without isolation", "The agent of host.%s reaches whatever you do, the suite and other trials included: %s. Set isolation = \"none\" if that is as it should be.", h.config.Name, why)
	}
}
