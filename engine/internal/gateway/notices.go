package gateway

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/engine/internal/gateway/wire"
)

// Bounds of what a server says that nobody asked for: how much of it is logged,
// and how many methods are told apart.
const (
	maxNoticesLogged  = 5000
	maxNoticesMethods = 20
)

// notices count a server's notifications and requests by method.
type notices struct {
	mu    sync.Mutex
	n     int
	count map[string]int
	// undelivered is how many of them no agent got.
	undelivered atomic.Int64
}

// add counts one and reports whether it is to be logged.
func (n *notices) add(method string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.count == nil {
		n.count = map[string]int{}
	}
	if _, known := n.count[method]; !known && len(n.count) >= maxNoticesMethods {
		method = "others"
	}
	n.count[method]++
	n.n++
	return n.n <= maxNoticesLogged
}

// noticed counts what the server says without being asked, and reports whether
// it is to be logged.
func (s *server) noticed(e *wire.Envelope) bool {
	if e.Method == "notifications/tools/list_changed" {
		s.tools.mu.Lock()
		s.tools.notified++
		s.tools.mu.Unlock()
	}
	return s.notices.add(quote(e.Method))
}

// noticeFindings tell of a server that says more than is logged.
func (s *server) noticeFindings() []eval.Finding {
	n := &s.notices
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.n <= maxNoticesLogged {
		return nil
	}
	methods := slices.SortedFunc(maps.Keys(n.count), func(a, b string) int {
		return cmp.Or(n.count[b]-n.count[a], strings.Compare(a, b))
	})
	var list []string
	for _, m := range methods {
		list = append(list, fmt.Sprintf("%s %d", m, n.count[m]))
	}
	text := fmt.Sprintf("the server sent %d messages that nobody asked for (%s); the first %d are logged", n.n, strings.Join(list, ", "), maxNoticesLogged)
	if lost := n.undelivered.Load(); lost > 0 {
		text += fmt.Sprintf(", %d reached no agent", lost)
	}
	return []eval.Finding{s.finding("mcp_notification_flood", eval.SeverityMinor, "%s", text)}
}
