package capture

import (
	"context"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/runtime"
)

// What is looked through for closed shadow roots.
const (
	maxSearched = 20_000
	maxClosed   = 200
)

// closedRoots hands the page's closed shadow roots to the engine's script, which
// cannot see them by itself. Roots that cannot be had are left closed.
func (t *tab) closedRoots(ctx context.Context) {
	if t.elements > maxSearched {
		return
	}
	all, yes := int64(-1), true
	doc, err := do(ctx, t.s, dom.GetDocument, dom.GetDocumentParams{Depth: &all, Pierce: &yes})
	tell(t.s, dom.Disable, cdp.Empty{})
	if err != nil {
		return
	}
	var args []*runtime.CallArgument
	for _, id := range closed(doc.Root, nil) {
		res, err := do(ctx, t.s, dom.ResolveNode, dom.ResolveNodeParams{BackendNodeID: id, ExecutionContextID: t.world})
		if err == nil && res.Object != nil {
			args = append(args, &runtime.CallArgument{ObjectID: res.Object.ObjectID})
		}
	}
	if len(args) == 0 {
		return
	}
	do(ctx, t.s, runtime.CallFunctionOn, runtime.CallFunctionOnParams{
		FunctionDeclaration: "function (...roots) { evalengine.adopt(roots) }", ExecutionContextID: t.world, Arguments: args})
}

// closed lists the closed roots below a node.
func closed(n *cdp.Node, found []cdp.BackendNodeID) []cdp.BackendNodeID {
	if n == nil || len(found) >= maxClosed {
		return found
	}
	for _, r := range n.ShadowRoots {
		if r.ShadowRootType == cdp.ShadowRootTypeClosed {
			found = append(found, r.BackendNodeID)
		}
		found = closed(r, found)
	}
	for _, c := range n.Children {
		found = closed(c, found)
	}
	return closed(n.ContentDocument, found)
}
