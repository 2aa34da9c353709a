package trial

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"time"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/engine/internal/capture"
)

// Pages takes pages of targets: a [capture.Browser].
type Pages interface {
	Capture(ctx context.Context, jobs []capture.Job) []eval.Page
}

// capture takes the story's pages while the target is still there. A page that
// cannot be taken says so itself, and costs the scores that look at it.
func (a *attempt) capture(ctx context.Context) *eval.Fault {
	if len(a.story.Captures) == 0 || a.r.Pages == nil {
		return nil
	}
	a.phase("taking pages")
	start := time.Now()
	defer func() { a.timings.Capture = time.Since(start).Seconds() }()
	jobs, err := captureJobs(a.story.Captures, eval.Vars{Target: a.values, Trial: a.trial})
	if err != nil {
		return &eval.Fault{Cause: eval.CauseObserve, Retry: eval.RetryNever, Detail: err.Error()}
	}
	a.pages = a.r.Pages.Capture(ctx, jobs)
	if err := a.draft.Pages(a.pages); err != nil {
		return &eval.Fault{Cause: eval.CauseStore, Retry: eval.RetryNever, Detail: err.Error()}
	}
	return nil
}

// captureJobs evaluates captures now that the target is known.
func captureJobs(captures []eval.Capture, vars eval.Vars) ([]capture.Job, error) {
	own := origins(vars.Target)
	jobs := make([]capture.Job, len(captures))
	for i := range captures {
		c := &captures[i]
		j := capture.Job{
			Name: c.Name, ExpectURL: c.ExpectURL, WaitFor: c.WaitFor, Hide: c.Hide, Origins: c.Origins, TargetOrigins: own,
			Viewports: c.Viewports, Scale: c.Scale, FirstScreen: c.FirstScreen, MaxHeight: c.MaxHeight, Timeout: c.Timeout,
		}
		var err error
		if j.URL, err = c.URL.Value(vars); err == nil && c.ExpectText != nil {
			j.ExpectText, err = c.ExpectText.Value(vars)
		}
		if err != nil {
			return nil, fmt.Errorf("capture %q: %w", c.Name, err)
		}
		if len(own) == 0 {
			// A story without a target looks at what its address names.
			j.TargetOrigins = []string{j.URL}
		}
		jobs[i] = j
	}
	return jobs, nil
}

// origins are the addresses among the values of a target: all that its pages may
// reach.
func origins(values eval.JSON) []string {
	var v map[string]any
	if json.Unmarshal(values, &v) != nil {
		return nil
	}
	var list []string
	for _, x := range v {
		s, _ := x.(string)
		u, err := url.Parse(s)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			continue
		}
		list = append(list, u.Scheme+"://"+u.Host)
	}
	slices.Sort(list)
	return slices.Compact(list)
}
