package rpc

import (
	"context"
	"errors"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/evalengine/evalengine/engine/eval"
	modelv1 "github.com/evalengine/evalengine/proto/evalengine/model/v1"
	pluginv1 "github.com/evalengine/evalengine/proto/evalengine/plugin/v1"
)

// modelServer offers an [eval.ModelProvider] over gRPC.
type modelServer struct {
	modelv1.UnimplementedModelServiceServer
	model eval.ModelProvider
	life  *lifetime
}

// ServeModel serves m until the engine is done with it; calls that are under way
// then are cancelled. It must be the last thing that main does: stdout belongs to
// it.
func ServeModel(m eval.ModelProvider) {
	life := newLifetime()
	Serve(KindModel, modelServices(&modelServer{model: m, life: life}), func() { life.end(drainTimeout) })
}

func (s *modelServer) Describe(ctx context.Context, _ *pluginv1.DescribeRequest) (_ *pluginv1.DescribeResponse, err error) {
	defer rescue(&err)
	d, err := s.model.Describe(ctx)
	if err != nil {
		return nil, status.Error(codes.Internal, valid(err.Error()))
	}
	return descriptionToProto(d), nil
}

func (s *modelServer) Complete(ctx context.Context, req *modelv1.CompleteRequest) (*modelv1.CompleteResponse, error) {
	leave, ok := s.life.enter()
	if !ok {
		return nil, errEnding
	}
	defer leave()
	ctx, cancel := s.life.bind(ctx)
	defer cancel()
	a, err := s.complete(ctx, modelCallFromProto(req))
	if err == nil && a == nil {
		err = errors.New("neither an answer nor an error")
	}
	if err != nil {
		f := FaultToProto(faultOf(err, eval.CauseUnknown))
		return &modelv1.CompleteResponse{Result: &modelv1.CompleteResponse_Fault{Fault: f}}, nil
	}
	return &modelv1.CompleteResponse{Result: &modelv1.CompleteResponse_Answer{Answer: modelAnswerToProto(*a)}}, nil
}

func (s *modelServer) complete(ctx context.Context, call eval.ModelCall) (a *eval.ModelAnswer, err error) {
	defer rescue(&err)
	return s.model.Complete(ctx, call)
}
