package capture

import (
	"encoding/json"
	"testing"

	"github.com/chromedp/cdproto/accessibility"
)

// axList reads nodes as the browser sends them.
func axList(in []byte) ([]*accessibility.Node, bool) {
	var res accessibility.GetFullAXTreeResult
	ok := decode(in, &res)
	return res.Nodes, ok
}

func TestReduce(t *testing.T) {
	cases := []struct{ name, in, want string }{
		{"nothing", `{"nodes":[]}`, `[]`},
		{"ignored nodes give their place to their children",
			`{"nodes":[{"nodeId":"1","ignored":false,"role":{"type":"r","value":"RootWebArea"},"name":{"type":"s","value":"Title"},"childIds":["2"]},
			{"nodeId":"2","ignored":true,"parentId":"1","childIds":["3","4"]},
			{"nodeId":"3","ignored":false,"parentId":"2","role":{"type":"r","value":"heading"},"name":{"type":"s","value":"Hello"},"properties":[{"name":"level","value":{"type":"integer","value":2}}]},
			{"nodeId":"4","ignored":false,"parentId":"2","role":{"type":"r","value":"checkbox"},"properties":[{"name":"checked","value":{"type":"tristate","value":"mixed"}},{"name":"focusable","value":{"type":"booleanOrUndefined","value":true}}]}]}`,
			`[{"role":"RootWebArea","name":"Title","children":[{"role":"heading","name":"Hello","level":2},{"role":"checkbox","checked":"mixed","focusable":true}]}]`},
		{"a node is there once, whoever names it",
			`{"nodes":[{"nodeId":"1","ignored":false,"role":{"type":"r","value":"a"},"childIds":["1","2","2"]},{"nodeId":"2","ignored":false,"parentId":"1","role":{"type":"r","value":"b"},"childIds":["1"]}]}`,
			`[{"role":"a","children":[{"role":"b"}]}]`},
	}
	for _, c := range cases {
		nodes, ok := axList([]byte(c.in))
		if !ok {
			t.Fatalf("%s: unreadable", c.name)
		}
		tree, cut := reduce(nodes)
		got, err := json.Marshal(tree)
		if err != nil || cut || string(got) != c.want {
			t.Errorf("%s: %s, cut %v, %v; want %s", c.name, got, cut, err, c.want)
		}
	}
}

func FuzzReduce(f *testing.F) {
	f.Add([]byte(`{"nodes":[{"nodeId":"1","ignored":false,"childIds":["1","2"]},{"nodeId":"2","ignored":true,"parentId":"1","properties":[null,{"name":"level","value":{"value":"x"}}]},null]}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		nodes, ok := axList(in)
		if !ok {
			return
		}
		tree, _ := reduce(nodes)
		if _, err := json.Marshal(tree); err != nil {
			t.Error(err)
		}
		var count func([]*axNode) int
		count = func(l []*axNode) int {
			n := len(l)
			for _, c := range l {
				n += count(c.Children)
			}
			return n
		}
		if n := count(tree); n > len(nodes) {
			t.Errorf("%d nodes of %d", n, len(nodes))
		}
	})
}
