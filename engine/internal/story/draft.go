package story

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"unicode"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"
)

// unfinishedPrompt stands in a draft for the prompt that somebody has to write.
const unfinishedPrompt = "unfinished"

// Draft is a story that is written for somebody to review. Its texts may be
// anybody's: they are written so that the language takes them for nothing but texts.
type Draft struct {
	// Name is a story's name, as [DraftName] makes it.
	Name string
	// Notes stand above the block, a line each.
	Notes []string
	Tags  []string
	// Target names a target block; empty leaves it out.
	Target string
	// Prompt is empty where nobody wrote one: then the story does not load until
	// somebody does, and Hint says what to write.
	Prompt, Hint string
	// Order are the tools that are to be called in this order, fewer than two for
	// none; Called are those that are to be called at all.
	Order  []string
	Called []DraftCall
}

// DraftCall is a tool, and an action of it where Action is not empty.
type DraftCall struct{ Tool, Action string }

// DraftName is a name for a story about the words, which no other words have.
func DraftName(prefix string, words []string) string {
	sum := sha256.Sum256([]byte(strings.Join(words, "\x00")))
	digest := hex.EncodeToString(sum[:4])
	name := slug(prefix + "-" + strings.Join(words, "-"))
	return strings.TrimRight(name[:min(len(name), maxName-len(digest)-1)], "-_") + "-" + digest
}

// Bytes is the text of a file with the story alone.
func (d Draft) Bytes() []byte {
	f := hclwrite.NewEmptyFile()
	for _, n := range d.Notes {
		f.Body().AppendUnstructuredTokens(hclwrite.Tokens{{Type: hclsyntax.TokenComment, Bytes: []byte("# " + oneLine(n) + "\n")}})
	}
	f.Body().AppendNewline()
	b := f.Body().AppendNewBlock("story", []string{d.Name}).Body()
	b.SetAttributeValue("tags", texts(d.Tags))
	if d.Target != "" {
		b.SetAttributeTraversal("target", hcl.Traversal{hcl.TraverseRoot{Name: "target"}, hcl.TraverseAttr{Name: d.Target}})
	}
	if d.Prompt != "" {
		b.SetAttributeValue("prompt", cty.StringVal(d.Prompt))
	} else {
		b.SetAttributeRaw("prompt", hclwrite.TokensForFunctionCall(unfinishedPrompt, hclwrite.TokensForValue(cty.StringVal(d.Hint))))
	}
	if len(d.Order) > 1 {
		b.AppendNewline()
		b.AppendNewBlock("assert", []string{"tools/order"}).Body().SetAttributeValue("tools", texts(d.Order))
	}
	for _, c := range d.Called {
		b.AppendNewline()
		use := b.AppendNewBlock("assert", []string{"tools/called"}).Body()
		use.SetAttributeValue("tool", cty.StringVal(c.Tool))
		if c.Action != "" {
			use.SetAttributeValue("action", cty.StringVal(c.Action))
		}
	}
	return hclwrite.Format(f.Bytes())
}

func texts(list []string) cty.Value {
	values := make([]cty.Value, 0, len(list))
	for _, s := range list {
		values = append(values, cty.StringVal(s))
	}
	return cty.TupleVal(values)
}

// oneLine makes a text that cannot leave its comment.
func oneLine(s string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Zl, r) || unicode.Is(unicode.Zp, r) {
			return ' '
		}
		return r
	}, s))
}

// UnfinishedDraft reports whether a file holds drafts alone whose prompts nobody has
// written yet.
func UnfinishedDraft(content []byte) bool {
	f, diags := hclsyntax.ParseConfig(content, "draft", hcl.InitialPos)
	if diags.HasErrors() {
		return false
	}
	body, ok := f.Body.(*hclsyntax.Body)
	if !ok || len(body.Blocks) == 0 || len(body.Attributes) > 0 {
		return false
	}
	for _, b := range body.Blocks {
		a := b.Body.Attributes["prompt"]
		if b.Type != "story" || a == nil || !isUnfinished(a.Expr) {
			return false
		}
	}
	return true
}

func isUnfinished(e hclsyntax.Expression) bool {
	call, ok := e.(*hclsyntax.FunctionCallExpr)
	return ok && call.Name == unfinishedPrompt
}

// unfinished reports a prompt that nobody has written yet.
func (l *loader) unfinished(e hclsyntax.Expression) bool {
	if !isUnfinished(e) {
		return false
	}
	l.found.fail(e.Range(), "unfinished prompt",
		"Nobody has written this prompt yet. Put the task in its place, in quotes and in a user's words: what is wanted, without naming the tools.")
	return true
}
