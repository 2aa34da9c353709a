package rpc

import (
	"context"

	"google.golang.org/grpc"

	"github.com/evalengine/evalengine/engine/eval"
	modelv1 "github.com/evalengine/evalengine/proto/evalengine/model/v1"
	pluginv1 "github.com/evalengine/evalengine/proto/evalengine/plugin/v1"
)

var _ eval.ModelProvider = (*modelClient)(nil)

// modelClient is the engine's half of a model plugin.
type modelClient struct {
	plug
	client modelv1.ModelServiceClient
}

// NewModel returns the provider of models that a plugin of that name serves on
// conn.
func NewModel(name string, conn grpc.ClientConnInterface) eval.ModelProvider {
	return &modelClient{plug: plug{KindModel, name}, client: modelv1.NewModelServiceClient(conn)}
}

func (c *modelClient) Describe(ctx context.Context) (eval.Description, error) {
	ctx, cancel := context.WithTimeout(ctx, describeTimeout)
	defer cancel()
	r, err := c.client.Describe(ctx, &pluginv1.DescribeRequest{})
	if err != nil {
		return eval.Description{}, c.broken(err)
	}
	return descriptionFromProto(r), nil
}

func (c *modelClient) Complete(ctx context.Context, call eval.ModelCall) (*eval.ModelAnswer, error) {
	r, err := c.client.Complete(ctx, modelCallToProto(call))
	if err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, c.broken(err)
	}
	if f := r.GetFault(); f != nil {
		return nil, c.named(FaultFromProto(f))
	}
	a := modelAnswerFromProto(r.GetAnswer())
	switch a.Stop {
	case eval.StopEnd, eval.StopMaxTokens, eval.StopWindow, eval.StopRefusal, eval.StopOther:
		return &a, nil
	}
	return nil, c.fault(eval.RetryNever, "gave an answer that stopped with %q, which is none of end, max_tokens, window, refusal and other", a.Stop)
}
