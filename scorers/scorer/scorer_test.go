package scorer

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/scorers/wire"
)

// given is what the last call of scorer params saw.
var given Params

func init() {
	Module("test", "1.0.0", "For tests.")
	Register(Spec{
		Name: "params", Role: eval.RoleMeasure, Dimension: eval.DimensionPath, Unit: "things",
		Params: eval.Schema{Attributes: []eval.Attribute{
			{Name: "text", Type: "string", Default: eval.JSON(`"default"`), Enum: []string{"default", "other"}},
			{Name: "number", Type: "number", Default: eval.JSON("3")},
			{Name: "flag", Type: "bool"},
			{Name: "list", Type: "list(string)"},
			{Name: "value", Type: "any"},
			{Name: "must", Type: "string", Required: true},
		}},
	}, func(_ *Input, p Params) (Result, error) {
		given = p
		if p.String("must") == "undeclared" {
			p.Int("undeclared")
		}
		return Measure(2, "", 1, ""), nil
	})
	Register(Spec{Name: "gate", Role: eval.RoleAssert, Dimension: eval.DimensionOutcome,
		Params: eval.Schema{Attributes: []eval.Attribute{{Name: "how", Type: "string"}}}}, gate)
	Register(Spec{Name: "measure", Role: eval.RoleMeasure, Dimension: eval.DimensionQuality,
		Params: eval.Schema{Attributes: []eval.Attribute{{Name: "how", Type: "string"}}}}, gate)
}

func gate(in *Input, p Params) (Result, error) {
	switch p.String("how") {
	case "pass":
		return Pass("good", StepEvidence("s1")).WithFindings(eval.Finding{Kind: "k", Severity: eval.SeverityInfo}), nil
	case "fail":
		return Fail("bad").WithEvidence(PointerEvidence("/a"), PageEvidence("home")), nil
	case "value":
		return Value(0.5, ""), nil
	case "nan":
		return Value(math.NaN(), ""), nil
	case "skip":
		return Skip("nothing there"), nil
	case "error":
		return Result{}, errors.New("broken")
	case "panic":
		panic("at the disco")
	case "call":
		b, err := Call("test/1", []byte("x"))
		Log(LevelInfo, "called")
		return Pass(string(b)), err
	case "calls":
		return Pass(in.Calls()[0].Tool + in.Calls()[0].Step), nil
	}
	return Result{}, nil
}

func serve(t *testing.T, d Door, in *eval.ScoreInput) []eval.ScoreOutput {
	t.Helper()
	b, err := Serve(d, wire.AppendRequest(nil, in, wire.AllParts))
	if err != nil {
		t.Fatal(err)
	}
	out, err := wire.DecodeResponse(b)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func use(scorer, params string) *eval.ScoreInput {
	return &eval.ScoreInput{Uses: []eval.Use{{Name: "u", Scorer: scorer, Params: eval.JSON(params)}}}
}

func TestResults(t *testing.T) {
	for _, test := range []struct {
		scorer, how string
		state       eval.ScoreState
		value       float64
		passed      string
		reason      string
	}{
		{"gate", "pass", eval.Scored, 1, "true", "good"},
		{"gate", "fail", eval.Scored, 0, "false", "bad"},
		{"gate", "value", eval.ScoreErrored, 0, "", "an assert passes or fails, and has no other value"},
		{"gate", "nan", eval.ScoreErrored, 0, "", "value NaN is not in 0..1"},
		{"gate", "skip", eval.ScoreSkipped, 0, "", "nothing there"},
		{"gate", "error", eval.ScoreErrored, 0, "", "broken"},
		{"gate", "panic", eval.ScoreErrored, 0, "", "panic: at the disco"},
		{"gate", "nothing", eval.ScoreErrored, 0, "", "the scorer returned no result"},
		{"gate", "call", eval.ScoreErrored, 0, "", "capability denied"},
		{"gate", "calls", eval.ScoreErrored, 0, "", "panic: runtime error: index out of range [0] with length 0"},
		{"measure", "pass", eval.Scored, 1, "", "good"},
		{"measure", "value", eval.Scored, 0.5, "", ""},
		{"none", "pass", eval.ScoreErrored, 0, "", `the module has no scorer "none"`},
	} {
		got := serve(t, nil, use(test.scorer, `{"how":"`+test.how+`"}`))[0]
		passed := ""
		if got.Passed != nil {
			passed = map[bool]string{true: "true", false: "false"}[*got.Passed]
		}
		if got.Name != "u" || got.State != test.state || got.Value != test.value || passed != test.passed || got.Reason != test.reason {
			t.Errorf("%s %s: got %+v; want %+v", test.scorer, test.how, got, test)
		}
	}
	got := serve(t, nil, use("gate", `{"how":"pass"}`))[0]
	if len(got.Evidence) != 1 || got.Evidence[0].Step != "s1" || len(got.Findings) != 1 || got.Findings[0].Kind != "k" {
		t.Errorf("got %+v; want evidence s1 and a finding", got)
	}
	got = serve(t, nil, use("gate", `{"how":"fail"}`))[0]
	if len(got.Evidence) != 2 || got.Evidence[0].Pointer != "/a" || got.Evidence[1].Page != "home" {
		t.Errorf("got %+v; want evidence /a and home", got)
	}
}

func TestParams(t *testing.T) {
	out := serve(t, nil, use("params", `{"number":7,"list":["a","b"],"flag":true,"value":{"x":[1]},"must":"m"}`))[0]
	if out.State != eval.Scored || out.Unit != "things" || *out.Raw != 2 {
		t.Fatalf("got %+v", out)
	}
	p := given
	if got := p.String("text"); got != "default" {
		t.Errorf("text %q; want default", got)
	}
	if got, f := p.Int("number"), p.Float("number"); got != 7 || f != 7 {
		t.Errorf("number %d, %v; want 7", got, f)
	}
	if got := strings.Join(p.Strings("list"), " "); got != "a b" || !p.Bool("flag") {
		t.Errorf("list %q, flag %v", got, p.Bool("flag"))
	}
	if got := p.JSON("value").Pointer("/x/0").String(); got != "1" || !p.Has("value") {
		t.Errorf("value %q", got)
	}
	if got := strings.Join(p.Strings("must"), " "); got != "m" {
		t.Errorf("a lone string as list: %q; want m", got)
	}
	if p.Use().Name != "u" {
		t.Errorf("use %+v", p.Use())
	}
	serve(t, nil, use("params", `{"must":"m","value":null,"number":null}`))
	if given.Has("value") || given.Has("flag") || given.Int("number") != 3 || given.JSON("flag").Exists() {
		t.Error("null is not as if left out")
	}
	for params, want := range map[string]string{
		`{}`:                         `parameter "must" is required`,
		`{"must":null}`:              `parameter "must" is required`,
		`{"must":1}`:                 `parameter "must" is a number, want a string`,
		`{"must":"m","x":1}`:         `no parameter "x"`,
		`{"must":"m","text":"what"}`: `parameter "text" is "what", want one of default, other`,
		`[]`:                         `the parameters are not a JSON object`,
		`{`:                          `parameters: not a JSON value`,
		`{"must":"undeclared"}`:      `panic: scorer "params" has no parameter "undeclared"`,
	} {
		if out := serve(t, nil, use("params", params))[0]; out.State != eval.ScoreErrored || out.Reason != want {
			t.Errorf("%s: got %s %q; want errored %q", params, out.State, out.Reason, want)
		}
	}
}

func TestInput(t *testing.T) {
	in := use("gate", `{"how":"calls"}`)
	in.Steps = []eval.Step{{ID: "s1", Kind: eval.StepToolCall, CallID: "c", Tool: "go"}}
	if got := serve(t, nil, in)[0]; got.Reason != "gos1" {
		t.Errorf("got %+v; want gos1", got)
	}
	i := &Input{ScoreInput: &eval.ScoreInput{
		State: eval.JSON(`{"a":1}`), Tools: []eval.Tool{{Server: "x", Name: "t"}, {Server: "y", Name: "t", Destructive: true}},
	}}
	if i.StateValue().Get("a").String() != "1" || i.BeforeValue().Exists() {
		t.Errorf("state %s, before %s", i.StateValue(), i.BeforeValue())
	}
	if got := i.Tool("y", "t"); got == nil || !got.Destructive {
		t.Errorf("tool y/t: %+v", got)
	}
	if got := i.Tool("", "t"); got == nil || got.Server != "x" || i.Tool("", "u") != nil {
		t.Errorf("tool t: %+v", got)
	}
}

type fakeDoor struct{ log string }

func (d *fakeDoor) Call(op string, request []byte) ([]byte, error) {
	return []byte(op + string(request)), nil
}
func (d *fakeDoor) Log(_ Level, message string) { d.log += message }

func TestDoor(t *testing.T) {
	d := &fakeDoor{}
	if got := serve(t, d, use("gate", `{"how":"call"}`))[0]; got.Reason != "test/1x" || d.log != "called" {
		t.Errorf("got %+v, log %q", got, d.log)
	}
	if _, err := Call("test/1", nil); err != ErrDenied {
		t.Errorf("Call outside of Serve: %v; want ErrDenied", err)
	}
}

// modelDoor answers a model request with the question itself.
type modelDoor struct{ fakeDoor }

func (modelDoor) Call(op string, request []byte) ([]byte, error) {
	q, err := wire.DecodeModelRequest(request)
	if err != nil || op != CapComplete {
		return nil, ErrFailed
	}
	return wire.AppendModelReply(nil, &eval.ModelReply{Samples: []eval.ModelAnswer{{Text: q.Messages[0].Parts[0].Text, Stop: eval.StopEnd}}}), nil
}

func TestComplete(t *testing.T) {
	q := &eval.ModelRequest{Messages: []eval.ModelMessage{{Role: "user", Parts: []eval.ModelPart{{Text: "how good?"}}}}}
	if _, err := Complete(q); err != ErrDenied {
		t.Errorf("Complete outside of Serve: %v; want ErrDenied", err)
	}
	door = &modelDoor{}
	defer func() { door = closed{} }()
	reply, err := Complete(q)
	if err != nil || len(reply.Samples) != 1 || reply.Samples[0].Text != "how good?" || reply.Samples[0].Stop != eval.StopEnd {
		t.Errorf("got %+v, %v", reply, err)
	}
}

func TestSamples(t *testing.T) {
	spec := Spec{Name: "judge", Role: eval.RoleJudge}
	got, err := finish(&spec, Value(0.5, "").WithSamples(0.25).WithSamples(0.75))
	if err != nil || len(got.Samples) != 2 || got.Samples[1] != 0.75 {
		t.Errorf("got %+v, %v; want two samples", got, err)
	}
	if _, err := finish(&spec, Value(0.5, "").WithSamples(math.NaN())); err == nil || err.Error() != "sample NaN is not in 0..1" {
		t.Errorf("a sample of NaN: %v", err)
	}
}

func TestDescribe(t *testing.T) {
	b, err := Describe()
	if err != nil {
		t.Fatal(err)
	}
	m, err := wire.DecodeManifest(b)
	if err != nil || m.Module != "test" || m.Scorer("gate") == nil {
		t.Errorf("got %+v, %v", m, err)
	}
}

func TestRegisterRefuses(t *testing.T) {
	good := Spec{Name: "new", Role: eval.RoleMeasure, Dimension: eval.DimensionPath}
	for want, change := range map[string]func(*Spec){
		"not in snake_case":     func(s *Spec) { s.Name = "New" },
		"registered twice":      func(s *Spec) { s.Name = "gate" },
		"unknown role":          func(s *Spec) { s.Role = "" },
		"unknown dimension":     func(s *Spec) { s.Dimension = "" },
		"outcome or constraint": func(s *Spec) { s.Role = eval.RoleAssert },
		"unknown need":          func(s *Spec) { s.Needs = []eval.Part{"soul"} },
		"not in snake_case, or": func(s *Spec) { s.Params.Attributes = []eval.Attribute{{Name: "a-b", Type: "string"}} },
		"no type":               func(s *Spec) { s.Params.Attributes = []eval.Attribute{{Name: "a"}} },
		"the default is not JSON": func(s *Spec) {
			s.Params.Attributes = []eval.Attribute{{Name: "a", Type: "any", Default: eval.JSON("x")}}
		},
	} {
		spec := good
		change(&spec)
		func() {
			defer func() {
				if p, _ := recover().(string); !strings.Contains(p, want) {
					t.Errorf("Register panicked with %q; want %q", p, want)
				}
			}()
			Register(spec, gate)
		}()
	}
}

func FuzzServe(f *testing.F) {
	in := use("gate", `{"how":"pass"}`)
	in.Steps = []eval.Step{{ID: "s1", Kind: eval.StepToolCall, Arguments: eval.JSON("{}")}}
	f.Add(wire.AppendRequest(nil, in, wire.AllParts))
	f.Add(wire.AppendRequest(nil, use("params", `{"must":[1e9]}`), wire.AllParts))
	f.Fuzz(func(t *testing.T, b []byte) {
		response, err := Serve(nil, b)
		if err != nil {
			return
		}
		out, err := wire.DecodeResponse(response)
		if err != nil {
			t.Fatalf("its own response: %v", err)
		}
		for _, o := range out {
			if o.State == eval.Scored && !(o.Value >= 0 && o.Value <= 1) {
				t.Errorf("got %+v", o)
			}
		}
	})
}
