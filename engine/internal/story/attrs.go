package story

import (
	"errors"
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/evalengine/evalengine/engine/eval"
)

// The functions here read one attribute that must be known when the suite is
// loaded. A nil attribute is one that was left out.

// typed evaluates to a value of the type; null is as good as left out.
func (l *loader) typed(a *hclsyntax.Attribute, s *scope, t cty.Type) (cty.Value, bool) {
	if a == nil {
		return cty.NilVal, false
	}
	v, ok := l.eval(a.Expr, s)
	if !ok || v.IsNull() {
		return cty.NilVal, false
	}
	out, err := convert.Convert(v, t)
	if err != nil {
		l.wrongType(a, err)
		return cty.NilVal, false
	}
	return out, true
}

func (l *loader) wrongType(a *hclsyntax.Attribute, err error) {
	l.found.fail(a.Expr.Range(), "wrong type", "%q: %s.", a.Name, typeError(err))
}

func (l *loader) textAttr(a *hclsyntax.Attribute, s *scope) (string, bool) {
	v, ok := l.typed(a, s, cty.String)
	if !ok {
		return "", false
	}
	return v.AsString(), true
}

// filledAttr is textAttr for a text that must not be empty.
func (l *loader) filledAttr(a *hclsyntax.Attribute, s *scope) (string, bool) {
	text, ok := l.textAttr(a, s)
	if a != nil && ok && strings.TrimSpace(text) == "" {
		l.found.fail(a.Expr.Range(), "empty text", "%q must not be empty.", a.Name)
		return "", false
	}
	return text, ok
}

func (l *loader) boolAttr(a *hclsyntax.Attribute, s *scope) bool {
	v, ok := l.typed(a, s, cty.Bool)
	return ok && v.True()
}

// intAttr takes whole numbers within the bounds.
func (l *loader) intAttr(a *hclsyntax.Attribute, s *scope, low, high int64) (int, bool) {
	v, ok := l.typed(a, s, cty.Number)
	if !ok {
		return 0, false
	}
	n, exact := v.AsBigFloat().Int64()
	if exact != big.Exact || n < low || n > high {
		l.found.fail(a.Expr.Range(), "number out of range", "%q is a whole number from %d to %d.", a.Name, low, high)
		return 0, false
	}
	return int(n), true
}

func (l *loader) textsAttr(a *hclsyntax.Attribute, s *scope) []string {
	v, ok := l.typed(a, s, cty.List(cty.String))
	if !ok {
		return nil
	}
	var list []string
	seen := map[string]bool{}
	i := 0
	for it := v.ElementIterator(); it.Next(); i++ {
		_, e := it.Element()
		switch {
		case e.IsNull() || strings.TrimSpace(e.AsString()) == "":
			l.found.fail(elementRange(a.Expr, i), "empty text", "%q has an empty element.", a.Name)
		case seen[e.AsString()]:
			l.found.warn(elementRange(a.Expr, i), "duplicate element", "%q has %q already.", a.Name, e.AsString())
		default:
			seen[e.AsString()] = true
			list = append(list, e.AsString())
		}
	}
	return list
}

// elementRange is the place of a list's element where the list is written out.
func elementRange(e hclsyntax.Expression, i int) hcl.Range {
	if t, ok := e.(*hclsyntax.TupleConsExpr); ok && i < len(t.Exprs) {
		return t.Exprs[i].Range()
	}
	return e.Range()
}

func (l *loader) durationAttr(a *hclsyntax.Attribute, s *scope) time.Duration {
	text, ok := l.textAttr(a, s)
	if !ok {
		return 0
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		l.found.fail(a.Expr.Range(), "unreadable duration", "%q is a duration such as \"90s\", \"10m\" or \"1h30m\", in quotes.", a.Name)
		return 0
	}
	if d <= 0 {
		l.found.fail(a.Expr.Range(), "duration out of range", "%q must be longer than 0.", a.Name)
		return 0
	}
	return d
}

var sizeUnits = []struct {
	name  string
	bytes int64
}{
	{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30},
	{"KB", 1e3}, {"kB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"B", 1},
}

func (l *loader) sizeAttr(a *hclsyntax.Attribute, s *scope) int64 {
	text, ok := l.textAttr(a, s)
	if !ok {
		return 0
	}
	n, ok := parseSize(text)
	if !ok {
		l.found.fail(a.Expr.Range(), "unreadable size", "%q is a size such as \"64KiB\", \"128MiB\" or a number of bytes, greater than 0 and at most 64GiB.", a.Name)
	}
	return n
}

func parseSize(text string) (int64, bool) {
	factor := int64(1)
	digits := strings.TrimSpace(text)
	for _, u := range sizeUnits {
		if rest, ok := strings.CutSuffix(digits, u.name); ok {
			factor, digits = u.bytes, strings.TrimSpace(rest)
			break
		}
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n <= 0 || n > (64<<30)/factor {
		return 0, false
	}
	return n * factor, true
}

// viewport is the size of the browser window where a capture says none.
var viewport = eval.Viewport{Width: 1280, Height: 800}

func parseViewport(text string) (eval.Viewport, bool) {
	w, h, ok := strings.Cut(text, "x")
	width, err1 := strconv.Atoi(w)
	height, err2 := strconv.Atoi(h)
	good := ok && err1 == nil && err2 == nil && width >= 100 && width <= 10_000 && height >= 100 && height <= 10_000
	return eval.Viewport{Width: width, Height: height}, good
}

// pin is where a plugin or module is pinned, if it is.
type pin struct {
	expr hclsyntax.Expression
	// unreadable says that there is a pin and nobody knows which: what it is for must
	// not be run.
	unreadable bool
}

// at is where to point for an error: at the pin where that is what it is about.
func (p pin) at(otherwise hcl.Range, err error) hcl.Range {
	if p.expr != nil && errors.Is(err, ErrDigest) {
		return p.expr.Range()
	}
	return otherwise
}

// pinAttr takes the digest that pins a plugin or module.
func (l *loader) pinAttr(a *hclsyntax.Attribute) (string, pin) {
	if a == nil {
		return "", pin{}
	}
	before := len(l.found.list)
	digest := l.sha256Attr(a)
	return digest, pin{a.Expr, l.found.list[before:].HasErrors()}
}

func (l *loader) sha256Attr(a *hclsyntax.Attribute) string {
	text, ok := l.textAttr(a, l.root)
	if !ok {
		return ""
	}
	digest := strings.ToLower(strings.TrimPrefix(text, "sha256:"))
	if len(digest) != 64 || strings.Trim(digest, "0123456789abcdef") != "" {
		l.found.fail(a.Expr.Range(), "unreadable digest", "%q is a SHA-256 in 64 hexadecimal digits, as `sha256sum` prints it.", a.Name)
		return ""
	}
	return digest
}

// refsAttr takes a list of references to blocks.
func (l *loader) refsAttr(a *hclsyntax.Attribute, s *scope, kind string, names cty.Value) ([]string, bool) {
	if a == nil {
		return nil, false
	}
	v, ok := l.eval(a.Expr, s.references(kind, names))
	if !ok || v.IsNull() {
		return nil, false
	}
	if !isSequence(v.Type()) {
		l.found.fail(a.Expr.Range(), "wrong type", "%q is a list of references: write %s = [%s.NAME].", a.Name, a.Name, kind)
		return nil, false
	}
	var list []string
	i := 0
	for it := v.ElementIterator(); it.Next(); i++ {
		_, e := it.Element()
		if name, ok := l.ref(e, elementRange(a.Expr, i), kind); ok {
			list = append(list, name)
		}
	}
	return list, len(list) == i
}

func (l *loader) refAttr(a *hclsyntax.Attribute, s *scope, kind string, names cty.Value) (string, bool) {
	if a == nil {
		return "", false
	}
	v, ok := l.eval(a.Expr, s.references(kind, names))
	if !ok || v.IsNull() {
		return "", false
	}
	return l.ref(v, a.Expr.Range(), kind)
}

func (l *loader) ref(v cty.Value, rng hcl.Range, kind string) (string, bool) {
	if v.Type() == refType && !v.IsNull() {
		if r := v.EncapsulatedValue().(*ref); r.kind == kind {
			return r.name, true
		}
	}
	detail := fmt.Sprintf("A reference to a %s block is needed: write %s.NAME.", kind, kind)
	if v.Type() == cty.String && !v.IsNull() {
		detail = fmt.Sprintf("A reference to a %s block is needed, not its name in quotes: write %s.%s.", kind, kind, v.AsString())
	}
	l.found.fail(rng, "not a reference", "%s", detail)
	return "", false
}
