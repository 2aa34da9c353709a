package rpc

import (
	"fmt"
	"reflect"
	"strconv"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/evalengine/evalengine/engine/eval"
	hostv1 "github.com/evalengine/evalengine/proto/evalengine/host/v1"
	pluginv1 "github.com/evalengine/evalengine/proto/evalengine/plugin/v1"
	provisionerv1 "github.com/evalengine/evalengine/proto/evalengine/provisioner/v1"
	recordv1 "github.com/evalengine/evalengine/proto/evalengine/record/v1"
)

// fill gives every field below v a value of its own, so that a field that a
// conversion forgets, or confuses with another, shows.
func fill(v reflect.Value, n *int) {
	*n++
	switch v.Kind() {
	case reflect.String:
		v.SetString("value " + strconv.Itoa(*n))
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt(int64(*n))
	case reflect.Float64:
		v.SetFloat(float64(*n) + 0.5)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), n)
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i), n)
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for range 2 {
			k, e := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			fill(k, n)
			fill(e, n)
			v.SetMapIndex(k, e)
		}
	case reflect.Slice:
		if v.Type() == reflect.TypeFor[eval.JSON]() {
			v.SetBytes([]byte(`{"n":` + strconv.Itoa(*n) + `}`))
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range 2 {
			fill(v.Index(i), n)
		}
	default:
		panic(fmt.Sprintf("fill: %s", v.Type()))
	}
}

// roundTrip converts a filled value and its zero there and back, over the wire.
func roundTrip[A any, B interface {
	*P
	proto.Message
}, P any](t *testing.T, to func(A) B, from func(B) A) {
	t.Helper()
	t.Run(reflect.TypeFor[A]().Name(), func(t *testing.T) {
		var full, zero A
		n := 0
		fill(reflect.ValueOf(&full).Elem(), &n)
		for _, want := range []A{full, zero} {
			b, err := proto.Marshal(to(want))
			if err != nil {
				t.Fatal(err)
			}
			p := B(new(P))
			if err := proto.Unmarshal(b, p); err != nil {
				t.Fatal(err)
			}
			if got := from(p); !reflect.DeepEqual(got, want) {
				t.Errorf("got  %+v\nwant %+v", got, want)
			}
		}
	})
}

func TestRoundTrips(t *testing.T) {
	roundTrip(t, TrialToProto, TrialFromProto)
	roundTrip(t, StepToProto, StepFromProto)
	roundTrip(t, ToolToProto, ToolFromProto)
	roundTrip(t, UsageToProto, UsageFromProto)
	roundTrip(t, ScoreToProto, ScoreFromProto)
	roundTrip(t, FindingToProto, FindingFromProto)
	roundTrip(t, EvidenceToProto, EvidenceFromProto)
	roundTrip(t, descriptionToProto, descriptionFromProto)
	roundTrip(t, sessionSpecToProto, sessionSpecFromProto)
	roundTrip(t, provisionRequestToProto, provisionRequestFromProto)
	roundTrip(t, targetToProto, targetFromProto)
	roundTrip(t, modelAnswerToProto, modelAnswerFromProto)
	roundTrip(t,
		func(r eval.TurnResult) *hostv1.TurnDone { return turnDoneToProto(r, nil) },
		func(d *hostv1.TurnDone) eval.TurnResult { r, _ := turnDoneFromProto(d); return r })
}

func TestFaultRoundTrip(t *testing.T) {
	want := eval.Fault{Cause: "rate_limit", Retry: eval.RetryStop, Detail: "d", Status: 429, RetryAfter: 7}
	if got := FaultFromProto(FaultToProto(&want)); *got != want {
		t.Errorf("got %+v; want %+v", *got, want)
	}
	if FaultFromProto(FaultToProto(nil)) != nil {
		t.Error("a nil fault did not stay nil")
	}
	got := FaultFromProto(&recordv1.Fault{Retry: "whenever", RetryAfterNs: -1})
	if want := (eval.Fault{Cause: "unknown", Retry: eval.RetryTrial}); *got != want {
		t.Errorf("unknown retry: got %+v; want %+v", *got, want)
	}
}

// Every field of the messages is set by some conversion of a filled value.
func TestEveryProtoFieldIsSet(t *testing.T) {
	for _, m := range []proto.Message{
		made(TrialToProto), made(StepToProto), made(ToolToProto), made(UsageToProto), made(ScoreToProto),
		made(FindingToProto), made(EvidenceToProto), made(descriptionToProto), made(attributeToProto),
		made(needToProto), made(sessionSpecToProto), made(endpointToProto), made(provisionRequestToProto),
		made(targetToProto), made(serverToProto),
		made(func(f eval.Fault) *recordv1.Fault { return FaultToProto(&f) }),
		made(func(r eval.TurnResult) *hostv1.TurnDone { return turnDoneToProto(r, &eval.Fault{Cause: "x"}) }),
	} {
		r := m.ProtoReflect()
		fields := r.Descriptor().Fields()
		for i := range fields.Len() {
			if f := fields.Get(i); !r.Has(f) {
				t.Errorf("%s is not set", f.FullName())
			}
		}
	}
}

func made[A any, B proto.Message](to func(A) B) proto.Message {
	var full A
	n := 0
	fill(reflect.ValueOf(&full).Elem(), &n)
	return to(full)
}

func TestEvents(t *testing.T) {
	step := eval.Step{Kind: eval.StepMessage, Text: "hello"}
	for _, want := range []eval.Event{{Step: &step}, {Progress: "p"}, {Warning: "w"}} {
		got, ok := eventFromProto(eventToProto(want))
		if !ok || !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v, %v; want %+v", got, ok, want)
		}
	}
	if eventToProto(eval.Event{}) != nil {
		t.Error("an empty event became a message")
	}
	if _, ok := eventFromProto(&hostv1.Event{}); ok {
		t.Error("an unknown event was taken for a known one")
	}
}

func TestBadUTF8DoesNotStopAMessage(t *testing.T) {
	s := eval.Step{Text: "a\xffb", Tool: "\xed\xa0\x80", Result: eval.JSON("{}")}
	b, err := proto.Marshal(StepToProto(s))
	if err != nil {
		t.Fatal(err)
	}
	var p recordv1.Step
	if err := proto.Unmarshal(b, &p); err != nil {
		t.Fatal(err)
	}
	if got, want := p.Text, "a\uFFFDb"; got != want {
		t.Errorf("text = %q; want %q", got, want)
	}
}

// What a plugin sends as JSON and is none becomes a text, whichever field it is in.
func TestNoJSON(t *testing.T) {
	step := StepFromProto(&recordv1.Step{Arguments: []byte(`{ta":1}`), Result: []byte("no \xff")})
	tool := ToolFromProto(&recordv1.Tool{InputSchema: []byte("{"), Annotations: []byte("]")})
	target := targetFromProto(&provisionerv1.Target{Values: []byte("'")})
	attribute := attributeFromProto(&pluginv1.Attribute{Default: []byte("tru")})
	for _, tt := range []struct {
		what string
		got  eval.JSON
		want string
	}{
		{"arguments", step.Arguments, `"{ta\":1}"`},
		{"result", step.Result, "\"no \uFFFD\""},
		{"input schema", tool.InputSchema, `"{"`},
		{"annotations", tool.Annotations, `"]"`},
		{"values", target.Values, `"'"`},
		{"default", attribute.Default, `"tru"`},
	} {
		if string(tt.got) != tt.want {
			t.Errorf("%s = %s; want %s", tt.what, tt.got, tt.want)
		}
	}
	if !step.BadArguments {
		t.Error("the arguments are not marked as bad")
	}
}
