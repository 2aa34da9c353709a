package rpc

import (
	"encoding/json"
	"math"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/evalengine/evalengine/engine/eval"
	hostv1 "github.com/evalengine/evalengine/proto/evalengine/host/v1"
	pluginv1 "github.com/evalengine/evalengine/proto/evalengine/plugin/v1"
	provisionerv1 "github.com/evalengine/evalengine/proto/evalengine/provisioner/v1"
	recordv1 "github.com/evalengine/evalengine/proto/evalengine/record/v1"
)

// wire is a message as a plugin sends it.
func wire(f *testing.F, m proto.Message) []byte {
	f.Helper()
	b, err := proto.Marshal(m)
	if err != nil {
		f.Fatal(err)
	}
	return b
}

// Whatever a plugin sends becomes something that can be written to a record, or
// nothing.
func FuzzFromProto(f *testing.F) {
	f.Add(wire(f, eventToProto(eval.Event{Step: &eval.Step{Kind: eval.StepToolCall, Tool: "t", Arguments: eval.JSON(`{"a":1}`)}})))
	f.Add(wire(f, eventToProto(eval.Event{Progress: "works", Warning: "half"})))
	f.Add(wire(f, targetToProto(eval.Target{ID: "x", Values: eval.JSON(`{"url":"http://127.0.0.1"}`), Secrets: []string{"12345678"}})))
	nan := math.NaN()
	f.Add(wire(f, turnDoneToProto(eval.TurnResult{Outcome: eval.Completed, Usage: eval.Usage{CostUSD: &nan}}, nil)))
	f.Add(wire(f, &recordv1.Tool{Name: "t", InputSchema: []byte("{"), Annotations: []byte("no")}))
	f.Add(wire(f, &pluginv1.DescribeResponse{Schema: &pluginv1.Schema{Attributes: []*pluginv1.Attribute{{Name: "a", Default: []byte("{")}}}}))
	f.Add([]byte{0x0a, 0x02, 0xff, 0xfe})
	f.Add([]byte{0x12, 0x05, 0x0a, 0x03, '{', '"', 'a'})
	f.Fuzz(func(t *testing.T, b []byte) {
		check := func(what string, v any) {
			text, err := json.Marshal(v)
			if err != nil {
				t.Errorf("%s of %q cannot be written: %v", what, b, err)
			} else if !json.Valid(text) {
				t.Errorf("%s of %q is written as %s", what, b, text)
			}
		}
		var event hostv1.Event
		if proto.Unmarshal(b, &event) == nil {
			e, _ := eventFromProto(&event)
			check("event", e)
		}
		var done hostv1.TurnDone
		if proto.Unmarshal(b, &done) == nil {
			res, fault := turnDoneFromProto(&done)
			check("turn", res)
			check("fault", fault)
		}
		var tool recordv1.Tool
		if proto.Unmarshal(b, &tool) == nil {
			check("tool", ToolFromProto(&tool))
		}
		var target provisionerv1.Target
		if proto.Unmarshal(b, &target) == nil {
			check("target", targetFromProto(&target))
		}
		var described pluginv1.DescribeResponse
		if proto.Unmarshal(b, &described) == nil {
			check("description", descriptionFromProto(&described))
		}
	})
}
