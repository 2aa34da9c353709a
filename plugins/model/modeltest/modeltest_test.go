package modeltest

import (
	"context"
	"os"
	"reflect"
	"testing"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/plugins/model"
)

// TestMain makes the test's own binary a plugin where it is started as one.
func TestMain(m *testing.M) {
	if os.Getenv("ECHO_PLUGIN") == "1" {
		model.Serve(echo{})
		return
	}
	os.Exit(m.Run())
}

// echo is a provider whose models say what they are asked.
type echo struct{}

func (echo) Describe(context.Context) (eval.Description, error) {
	return eval.Description{Name: "echo", Version: "1", Schema: eval.Schema{Attributes: []eval.Attribute{{Name: "prefix", Type: "string"}}}}, nil
}

func (echo) Complete(ctx context.Context, call eval.ModelCall) (*eval.ModelAnswer, error) {
	var cfg struct {
		Prefix string `json:"prefix"`
	}
	if err := model.Config(call, &cfg); err != nil {
		return nil, err
	}
	switch call.Model {
	case "locked":
		return nil, &eval.Fault{Cause: eval.CauseAuth, Retry: eval.RetryStop, Detail: "no key"}
	case "slow":
		<-ctx.Done()
		return nil, ctx.Err()
	case "broken":
		panic("broken")
	}
	text := cfg.Prefix
	for _, m := range call.Request.Messages {
		for _, p := range m.Parts {
			text += p.Text
		}
	}
	return &eval.ModelAnswer{Text: text, Stop: eval.StopEnd, Model: call.Model, Usage: eval.Usage{InputTokens: 3, OutputTokens: 2}}, nil
}

func TestPluginKeepsToTheKit(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	kit := Kit{
		Call: eval.ModelCall{Model: "m", Config: eval.JSON(`{"prefix":"> ","timeout":"1s"}`)}, Refused: eval.ModelCall{Model: "locked"},
		Cause: eval.CauseAuth, Slow: eval.ModelCall{Model: "slow"},
	}
	t.Run("in this process", func(t *testing.T) { k := kit; k.Provider = echo{}; k.Run(t) })
	t.Run("as a plugin", func(t *testing.T) { k := kit; k.Binary, k.Env = self, []string{"ECHO_PLUGIN=1"}; k.Run(t) })
	t.Run("panic", func(t *testing.T) {
		Kit{Binary: self, Env: []string{"ECHO_PLUGIN=1"}, Call: kit.Call, Refused: eval.ModelCall{Model: "broken"}, Cause: eval.CausePlugin}.Run(t)
	})
}

func TestProblems(t *testing.T) {
	bad := &eval.ModelAnswer{Stop: eval.StopMaxTokens, Cached: true, Usage: eval.Usage{Requests: 2, InputTokens: 1, CacheReadTokens: 2, ReasoningTokens: 1}}
	if got := problems(bad); len(got) != 6 {
		t.Errorf("problems = %q; want 6", got)
	}
	if got := problems(&eval.ModelAnswer{Text: "x", Stop: eval.StopEnd, Usage: eval.Usage{LowerBound: true}}); !reflect.DeepEqual(got, []string(nil)) {
		t.Errorf("problems = %q; want none", got)
	}
}
