package story

import (
	"bytes"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// HCL's parser and evaluator recurse once for each level of nesting and each
// operator of an expression: a crafted file would end the whole process with a
// stack overflow, which cannot be recovered from.
const (
	maxDepth     = 250
	maxOperators = 2000
)

// tooDeep finds an expression that is too deep to be parsed. Small files are
// cleared by counting bytes; the others are read as tokens.
func tooDeep(src []byte, name string) (hcl.Range, bool) {
	if !suspicious(src) {
		return hcl.Range{}, false
	}
	tokens, _ := hclsyntax.LexConfig(src, name, hcl.InitialPos)
	var g guard
	return g.scan(tokens)
}

// templateTooDeep is tooDeep for a file that is a template as a whole.
func templateTooDeep(src []byte, name string) (hcl.Range, bool) {
	if !suspicious(src) {
		return hcl.Range{}, false
	}
	tokens, _ := hclsyntax.LexTemplate(src, name, hcl.InitialPos)
	g := guard{templates: 1}
	return g.scan(tokens)
}

// suspicious is true for every file that tooDeep could object to.
func suspicious(src []byte) bool {
	opened, operators := bytes.Count(src, []byte("<<")), 0
	for _, b := range src {
		switch b {
		case '{', '[', '(', '"':
			opened++
		case '?', '!', '-', '+', '*', '/', '%', '<', '>', '=', '&', '|':
			operators++
		}
	}
	return opened > maxDepth || operators > maxOperators
}

// guard counts what is open, and what recursion the current expression needs
// beyond it.
type guard struct {
	open []bracket
	// templates counts the open ones that belong to a template.
	templates           int
	operators, controls int
}

// bracket says what a line's end means within it, and whether it is part of a
// template.
type bracket struct{ endsLine, template bool }

func (g *guard) scan(tokens hclsyntax.Tokens) (hcl.Range, bool) {
	for i, t := range tokens {
		g.next(t.Type, i+1 < len(tokens) && string(tokens[i+1].Bytes) == "for")
		if len(g.open) > maxDepth || g.operators > maxOperators || g.controls > maxOperators {
			return t.Range, true
		}
	}
	return hcl.Range{}, false
}

func (g *guard) next(t hclsyntax.TokenType, beforeFor bool) {
	switch t {
	case hclsyntax.TokenOBrace:
		g.push(bracket{endsLine: !beforeFor})
	case hclsyntax.TokenOParen, hclsyntax.TokenOBrack:
		g.push(bracket{})
	case hclsyntax.TokenTemplateControl:
		g.controls++
		g.push(bracket{template: true})
	case hclsyntax.TokenTemplateInterp, hclsyntax.TokenOQuote, hclsyntax.TokenOHeredoc:
		g.push(bracket{template: true})
	case hclsyntax.TokenCBrace, hclsyntax.TokenTemplateSeqEnd, hclsyntax.TokenCQuote, hclsyntax.TokenCHeredoc,
		hclsyntax.TokenCParen, hclsyntax.TokenCBrack:
		g.pop()
	case hclsyntax.TokenComma:
		g.operators = 0
	case hclsyntax.TokenNewline:
		g.newline()
	default:
		if operator(t) {
			g.operators++
		}
	}
}

func (g *guard) push(b bracket) {
	g.open = append(g.open, b)
	if b.template {
		g.templates++
	}
}

func (g *guard) pop() {
	last := len(g.open) - 1
	if last < 0 {
		return
	}
	if g.open[last].template {
		g.templates--
	}
	g.open = g.open[:last]
}

func (g *guard) newline() {
	if len(g.open) == 0 || g.open[len(g.open)-1].endsLine {
		g.operators = 0
	}
	if g.templates == 0 {
		g.controls = 0
	}
}

func operator(t hclsyntax.TokenType) bool {
	switch t {
	case hclsyntax.TokenPlus, hclsyntax.TokenMinus, hclsyntax.TokenStar, hclsyntax.TokenSlash, hclsyntax.TokenPercent,
		hclsyntax.TokenBang, hclsyntax.TokenQuestion, hclsyntax.TokenAnd, hclsyntax.TokenOr,
		hclsyntax.TokenEqualOp, hclsyntax.TokenNotEqual, hclsyntax.TokenLessThan, hclsyntax.TokenLessThanEq,
		hclsyntax.TokenGreaterThan, hclsyntax.TokenGreaterThanEq:
		return true
	}
	return false
}

// openTemplate is "${" or "%{" where that is open at the place, and empty
// where the place is in no template sequence.
func openTemplate(src []byte, at int) string {
	at = min(at, len(src))
	low := max(0, at-4096)
	closed := 0
	for i := at - 1; i >= low; i-- {
		switch src[i] {
		case '}':
			closed++
		case '{':
			if closed > 0 {
				closed--
				continue
			}
			if i > 0 && (src[i-1] == '$' || src[i-1] == '%') && (i < 2 || src[i-2] != src[i-1]) {
				return string(src[i-1 : i+1])
			}
		}
	}
	// A range may also begin at the sequence itself.
	if at+2 <= len(src) && src[at+1] == '{' && (src[at] == '$' || src[at] == '%') {
		return string(src[at : at+2])
	}
	return ""
}

// literalHint says how to write a template sequence as plain text.
func literalHint(open string) string {
	if open == "" {
		return ""
	}
	return "If the text shall hold " + open + " as it stands, write " + open[:1] + open + "."
}
