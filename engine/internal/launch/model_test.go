package launch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"

	"github.com/evalengine/evalengine/engine/eval"
)

// testModel does what the model's name says.
type testModel struct{}

func (testModel) Describe(context.Context) (eval.Description, error) {
	return eval.Description{Name: "fake", Version: "1", Capabilities: []string{"schema"}}, nil
}

func (testModel) Complete(ctx context.Context, c eval.ModelCall) (*eval.ModelAnswer, error) {
	switch c.Model {
	case "crash":
		os.Exit(7)
	case "busy":
		return nil, &eval.Fault{Cause: eval.CauseRateLimit, Retry: eval.RetryTrial, RetryAfter: 3}
	case "slow":
		<-ctx.Done()
		return nil, ctx.Err()
	case "odd":
		return &eval.ModelAnswer{Stop: "tired"}, nil
	}
	return &eval.ModelAnswer{Text: fmt.Sprint(os.Getpid(), " ", len(c.Request.Messages[0].Parts[0].Image.Data)), Stop: eval.StopEnd}, nil
}

func TestPoolModel(t *testing.T) {
	p := pool(t, nil, "evalengine-model-fake")
	m, err := p.Model(t.Context(), "fake", "")
	if err != nil {
		t.Fatal(err)
	}
	if d, err := m.Describe(t.Context()); err != nil || d.Capabilities[0] != "schema" {
		t.Errorf("Describe = %+v, %v", d, err)
	}
	ask := func(model string) (string, error) {
		part := eval.ModelPart{Image: &eval.ModelImage{Data: make([]byte, 8<<20)}}
		call := eval.ModelCall{Model: model, Request: eval.ModelRequest{Messages: []eval.ModelMessage{{Role: "user", Parts: []eval.ModelPart{part}}}}}
		a, err := m.Complete(t.Context(), call)
		if err != nil {
			return "", err
		}
		return a.Text, nil
	}
	first, err := ask("x")
	if err != nil {
		t.Fatal(err)
	}
	var f *eval.Fault
	if _, err := ask("busy"); !errors.As(err, &f) || f.Cause != eval.CauseRateLimit || f.RetryAfter != 3 {
		t.Errorf("busy: %v", err)
	}
	if _, err := ask("odd"); !errors.As(err, &f) || f.Cause != eval.CausePlugin {
		t.Errorf("an answer that stopped oddly: %v", err)
	}
	if same, err := ask("x"); err != nil || same != first {
		t.Errorf("another process, %q, than %q: %v", same, first, err)
	}
	if _, err := ask("crash"); !errors.As(err, &f) || f.Cause != eval.CausePlugin || f.Retry != eval.RetryTrial {
		t.Errorf("crash: %v", err)
	}
	if other, err := ask("x"); err != nil || other == first {
		t.Errorf("after a crash: %q, %v; want an answer of another process than %q", other, err, first)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := m.Complete(ctx, eval.ModelCall{Model: "slow"}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
