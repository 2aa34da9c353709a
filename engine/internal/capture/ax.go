package capture

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/chromedp/cdproto/accessibility"

	"github.com/evalengine/evalengine/engine/eval"
)

// What is kept of an accessibility tree.
const (
	maxNodes = 50_000
	maxDepth = 200
	maxName  = 1000
)

// axNode is a node of the accessibility tree as it is kept.
type axNode struct {
	Role     string    `json:"role"`
	Name     string    `json:"name,omitempty"`
	Level    int       `json:"level,omitempty"`
	Value    string    `json:"value,omitempty"`
	Checked  string    `json:"checked,omitempty"`
	Expanded *bool     `json:"expanded,omitempty"`
	Disabled bool      `json:"disabled,omitempty"`
	Required bool      `json:"required,omitempty"`
	Invalid  string    `json:"invalid,omitempty"`
	Focus    bool      `json:"focusable,omitempty"`
	URL      string    `json:"url,omitempty"`
	Children []*axNode `json:"children,omitempty"`
}

// accessibilityTree asks the browser for the page's tree and says whether it was
// cut.
func accessibilityTree(ctx context.Context, s *session) (eval.JSON, bool, error) {
	res, err := do(ctx, s, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{})
	if err != nil {
		return nil, false, err
	}
	nodes, cut := reduce(res.Nodes)
	b, err := json.Marshal(nodes)
	return b, cut, err
}

// reduce makes a tree of the browser's list. Nodes that it ignores give their
// place to their children.
func reduce(list []*accessibility.Node) ([]*axNode, bool) {
	byID := make(map[accessibility.NodeID]*accessibility.Node, len(list))
	for _, n := range list {
		if n != nil {
			byID[n.NodeID] = n
		}
	}
	left, cut := maxNodes, false
	var visit func(n *accessibility.Node, depth int) []*axNode
	visit = func(n *accessibility.Node, depth int) []*axNode {
		if left <= 0 || depth > maxDepth {
			cut = true
			return nil
		}
		left--
		delete(byID, n.NodeID) // once: what points back would never end
		var children []*axNode
		for _, id := range n.ChildIDs {
			if c := byID[id]; c != nil {
				children = append(children, visit(c, depth+1)...)
			}
		}
		if n.Ignored || text(n.Role) == "none" || text(n.Role) == "InlineTextBox" {
			return children
		}
		kept := node(n)
		kept.Children = children
		return []*axNode{kept}
	}
	roots := []*axNode{}
	for _, n := range list {
		if n != nil && n.ParentID == "" && byID[n.NodeID] != nil {
			roots = append(roots, visit(n, 0)...)
		}
	}
	return roots, cut
}

func node(n *accessibility.Node) *axNode {
	k := &axNode{Role: text(n.Role), Name: text(n.Name), Value: text(n.Value)}
	for _, p := range n.Properties {
		if p == nil || p.Value == nil {
			continue
		}
		var b bool
		switch string(p.Name) {
		case "level":
			decode(p.Value.Value, &k.Level)
		case "checked":
			k.Checked = text(p.Value)
		case "expanded":
			if decode(p.Value.Value, &b) {
				k.Expanded = &b
			}
		case "disabled":
			decode(p.Value.Value, &k.Disabled)
		case "required":
			decode(p.Value.Value, &k.Required)
		case "focusable":
			decode(p.Value.Value, &k.Focus)
		case "invalid":
			if k.Invalid = text(p.Value); k.Invalid == "false" {
				k.Invalid = ""
			}
		case "url":
			k.URL = withoutUser(text(p.Value))
		}
	}
	return k
}

// text is a value as text, bounded.
func text(v *accessibility.Value) string {
	if v == nil {
		return ""
	}
	var s string
	if !decode(v.Value, &s) {
		s = string(v.Value)
	}
	if len(s) > maxName {
		s = strings.ToValidUTF8(s[:maxName], "") + "…"
	}
	return s
}
