package exec

import (
	"fmt"
	"time"

	"github.com/evalengine/evalengine/engine/eval"
)

// maxPause bounds how long a provider can hold trials back.
const maxPause = 5 * time.Minute

// part is a host, a provider or a target with what is known of it.
type part struct {
	name   string
	limits PartLimits
	// active trials are under way, or wait for another attempt.
	active int
	// pause is until when no trial starts.
	pause time.Time
	// requests of the last minute, as many as the limit asks for.
	requests []time.Time
	// faults in a row, and when the last of them was counted.
	faults  int
	counted time.Time
	// open says that trials of the part are skipped; why is the fault of those
	// that a circuit skips, nil where the trials know it themselves.
	open bool
	why  *eval.Fault
}

// may reports whether a trial may start now; where it may not, when it may as far
// as that is a matter of time.
func (p *part) may(now time.Time) (bool, time.Time) {
	if n := p.limits.Concurrency; n > 0 && p.active >= n {
		return false, time.Time{}
	}
	if p.pause.After(now) {
		return false, p.pause
	}
	if n := p.limits.RequestsPerMinute; n > 0 && len(p.requests) >= n {
		if free := p.requests[len(p.requests)-n].Add(time.Minute); free.After(now) {
			return false, free
		}
	}
	return true, time.Time{}
}

// asked takes in a request.
func (p *part) asked(now time.Time) {
	n := p.limits.RequestsPerMinute
	if n <= 0 {
		return
	}
	if len(p.requests) >= 2*n {
		p.requests = append(p.requests[:0], p.requests[len(p.requests)-n:]...)
	}
	p.requests = append(p.requests, now)
}

// hold lets no trial start before d has passed.
func (p *part) hold(now time.Time, d time.Duration) {
	if at := now.Add(min(d, maxPause)); at.After(p.pause) {
		p.pause = at
	}
}

// fault counts a fault of an attempt that began at the given time, and opens the
// circuit where there are too many in a row. Attempts that were under way
// together meet one trouble together: they count as one.
func (p *part) fault(began, now time.Time, f *eval.Fault, most int) {
	if most <= 0 || p.open || p.faults > 0 && began.Before(p.counted) {
		return
	}
	p.faults++
	p.counted = now
	if p.faults < most {
		return
	}
	p.open = true
	p.why = &eval.Fault{Cause: eval.CauseCircuitOpen, Retry: eval.RetryNever,
		Detail: fmt.Sprintf("%s had %d infrastructure faults in a row, the last of them %s", p.name, p.faults, f.Error())}
}
