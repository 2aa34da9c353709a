package model

import (
	"testing"

	"github.com/evalengine/evalengine/engine/eval"
)

// A request that is refused after others went well is no reason to stop the host.
func TestBadRequestAfterAnAnswer(t *testing.T) {
	answered := Request{Status: 200, StreamEnd: Complete}
	refused := Request{Status: 400, StreamEnd: Failed, ErrorType: "invalid_request_error", ErrorMessage: "x"}
	for _, tt := range []struct {
		requests []Request
		want     eval.Retry
	}{
		{[]Request{refused}, eval.RetryStop},
		{[]Request{answered, refused}, eval.RetryNever},
	} {
		fault := Sum(tt.requests, false).Fault()
		if fault == nil || fault.Cause != eval.CauseBadRequest || fault.Retry != tt.want {
			t.Errorf("%d requests: fault %+v; want bad_request, retry %s", len(tt.requests), fault, tt.want)
		}
	}
}
