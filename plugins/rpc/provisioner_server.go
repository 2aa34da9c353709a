package rpc

import (
	"context"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/evalengine/evalengine/engine/eval"
	pluginv1 "github.com/evalengine/evalengine/proto/evalengine/plugin/v1"
	provisionerv1 "github.com/evalengine/evalengine/proto/evalengine/provisioner/v1"
)

// provisionerServer offers an [eval.Provisioner] over gRPC. It knows the targets
// that are alive, and destroys them when the engine is gone.
type provisionerServer struct {
	provisionerv1.UnimplementedProvisionerServiceServer
	prov eval.Provisioner
	life *lifetime

	mu    sync.Mutex
	alive map[string]bool
}

func (s *provisionerServer) Describe(ctx context.Context, _ *pluginv1.DescribeRequest) (_ *pluginv1.DescribeResponse, err error) {
	defer rescue(&err)
	d, err := s.prov.Describe(ctx)
	if err != nil {
		return nil, status.Error(codes.Internal, valid(err.Error()))
	}
	return descriptionToProto(d), nil
}

func (s *provisionerServer) Provision(ctx context.Context, req *provisionerv1.ProvisionRequest) (*provisionerv1.ProvisionResponse, error) {
	leave, ok := s.life.enter()
	if !ok {
		return nil, errEnding
	}
	defer leave()
	ctx, cancel := s.life.bind(ctx)
	defer cancel()
	t, err := s.provision(ctx, provisionRequestFromProto(req))
	if err != nil {
		return &provisionerv1.ProvisionResponse{Result: &provisionerv1.ProvisionResponse_Fault{
			Fault: FaultToProto(faultOf(err, eval.CauseProvision)),
		}}, nil
	}
	s.keep(t.ID, true)
	if ctx.Err() != nil { // nobody will hear of the target
		_ = s.destroy(context.WithoutCancel(ctx), t.ID)
		return nil, status.FromContextError(ctx.Err()).Err()
	}
	return &provisionerv1.ProvisionResponse{Result: &provisionerv1.ProvisionResponse_Target{Target: targetToProto(t)}}, nil
}

func (s *provisionerServer) provision(ctx context.Context, req eval.ProvisionRequest) (t eval.Target, err error) {
	defer rescue(&err)
	return s.prov.Provision(ctx, req)
}

func (s *provisionerServer) Snapshot(req *provisionerv1.SnapshotRequest, stream grpc.ServerStreamingServer[provisionerv1.SnapshotResponse]) error {
	leave, ok := s.life.enter()
	if !ok {
		return errEnding
	}
	defer leave()
	ctx, cancel := s.life.bind(stream.Context())
	defer cancel()
	state, err := s.snapshot(ctx, req.GetTargetId())
	if err != nil {
		return stream.Send(&provisionerv1.SnapshotResponse{Part: &provisionerv1.SnapshotResponse_Fault{
			Fault: FaultToProto(faultOf(err, eval.CauseObserve)),
		}})
	}
	for len(state) > 0 {
		n := min(len(state), snapshotChunk)
		part := &provisionerv1.SnapshotResponse_Chunk{Chunk: state[:n]}
		if err := stream.Send(&provisionerv1.SnapshotResponse{Part: part}); err != nil {
			return err
		}
		state = state[n:]
	}
	return nil
}

func (s *provisionerServer) snapshot(ctx context.Context, id string) (j eval.JSON, err error) {
	defer rescue(&err)
	return s.prov.Snapshot(ctx, id)
}

func (s *provisionerServer) Destroy(ctx context.Context, req *provisionerv1.DestroyRequest) (*provisionerv1.DestroyResponse, error) {
	leave, ok := s.life.enter()
	if !ok {
		return nil, errEnding
	}
	defer leave()
	err := s.destroy(ctx, req.GetTargetId())
	return &provisionerv1.DestroyResponse{Fault: FaultToProto(faultOf(err, eval.CauseProvision))}, nil
}

func (s *provisionerServer) destroy(ctx context.Context, id string) (err error) {
	defer rescue(&err)
	if err := s.prov.Destroy(ctx, id); err != nil {
		return err
	}
	s.keep(id, false)
	return nil
}

func (s *provisionerServer) keep(id string, alive bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if alive {
		s.alive[id] = true
		return
	}
	delete(s.alive, id)
}

// destroyAll destroys what is still alive, side by side, within d.
func (s *provisionerServer) destroyAll(d time.Duration) {
	s.mu.Lock()
	ids := make([]string, 0, len(s.alive))
	for id := range s.alive {
		ids = append(ids, id)
	}
	s.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	var wg sync.WaitGroup
	for _, id := range ids {
		wg.Go(func() { _ = s.destroy(ctx, id) })
	}
	wg.Wait()
}
