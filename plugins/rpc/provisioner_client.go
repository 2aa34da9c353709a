package rpc

import (
	"context"
	"encoding/json"
	"errors"
	"io"

	"google.golang.org/grpc"

	"github.com/evalengine/evalengine/engine/eval"
	pluginv1 "github.com/evalengine/evalengine/proto/evalengine/plugin/v1"
	provisionerv1 "github.com/evalengine/evalengine/proto/evalengine/provisioner/v1"
)

var _ eval.Provisioner = (*provisionerClient)(nil)

// provisionerClient is the engine's half of a provisioner plugin.
type provisionerClient struct {
	plug
	client provisionerv1.ProvisionerServiceClient
}

// NewProvisioner returns the provisioner that a plugin of that name serves on
// conn. A target whose Provision was cancelled is destroyed by the plugin's half.
func NewProvisioner(name string, conn grpc.ClientConnInterface) eval.Provisioner {
	return &provisionerClient{
		plug: plug{KindProvisioner, name}, client: provisionerv1.NewProvisionerServiceClient(conn),
	}
}

func (c *provisionerClient) Describe(ctx context.Context) (eval.Description, error) {
	ctx, cancel := context.WithTimeout(ctx, describeTimeout)
	defer cancel()
	r, err := c.client.Describe(ctx, &pluginv1.DescribeRequest{}, grpc.MaxCallRecvMsgSize(maxDescription))
	if err != nil {
		return eval.Description{}, c.broken(err)
	}
	return descriptionFromProto(r), nil
}

func (c *provisionerClient) Provision(ctx context.Context, req eval.ProvisionRequest) (eval.Target, error) {
	r, err := c.client.Provision(ctx, provisionRequestToProto(req))
	if err != nil {
		return eval.Target{}, c.failed(ctx, err)
	}
	if f := r.GetFault(); f != nil {
		return eval.Target{}, c.named(FaultFromProto(f))
	}
	t := targetFromProto(r.GetTarget())
	if t.ID == "" {
		return eval.Target{}, c.fault(eval.RetryNever, "made a target without an ID")
	}
	if _, bad := wellFormed(r.GetTarget().GetValues()); bad {
		return t, c.fault(eval.RetryNever, "target %q has values that are not JSON", t.ID)
	}
	return t, nil
}

func (c *provisionerClient) Snapshot(ctx context.Context, targetID string) (eval.JSON, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := c.client.Snapshot(ctx, &provisionerv1.SnapshotRequest{TargetId: targetID})
	if err != nil {
		return nil, c.failed(ctx, err)
	}
	var state eval.JSON
	for {
		r, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, c.failed(ctx, err)
		}
		if f := r.GetFault(); f != nil {
			return nil, c.named(FaultFromProto(f))
		}
		if len(state)+len(r.GetChunk()) > MaxSnapshot {
			return nil, &eval.Fault{
				Cause: eval.CauseObserve, Retry: eval.RetryNever,
				Detail: c.String() + ": the state of target " + targetID + " is larger than 256 MiB",
			}
		}
		state = append(state, r.GetChunk()...)
	}
	if len(state) > 0 && !json.Valid(state) {
		return nil, &eval.Fault{
			Cause: eval.CauseObserve, Retry: eval.RetryTrial,
			Detail: c.String() + ": the state of target " + targetID + " is not JSON",
		}
	}
	return state, nil
}

func (c *provisionerClient) Destroy(ctx context.Context, targetID string) error {
	r, err := c.client.Destroy(ctx, &provisionerv1.DestroyRequest{TargetId: targetID})
	if err != nil {
		return c.failed(ctx, err)
	}
	if f := r.GetFault(); f != nil {
		return c.named(FaultFromProto(f))
	}
	return nil
}

// failed tells the end of the caller's context from the plugin's failure.
func (c *provisionerClient) failed(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return c.broken(err)
}
