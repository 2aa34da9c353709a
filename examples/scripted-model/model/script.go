package model

import (
	"regexp"
	"strings"
	"time"
)

// Bounds of a script, so that a written one cannot exhaust the server.
const (
	maxScript    = 4 << 20
	maxScenarios = 1000
	maxTurns     = 1000
	maxSteps     = 1000
	maxDelay     = 10 * time.Minute
)

// A Script is what the server answers with: scenarios, and which of them a
// request belongs to. It is made by [Parse] or [Library] and never changes.
type Script struct {
	scenarios []*scenario
	fallback  string // the scenario of a request that neither names nor matches one
	apiKey    string // the only key that is let in; empty: any, or none
}

// A scenario is one written conversation.
type scenario struct {
	name  string
	about string
	rule  *rule
	fault *fault // of every request of the scenario
	turns []turn
}

// A rule chooses a scenario by what is asked.
type rule struct {
	contains []string
	matches  *regexp.Regexp
	model    string
}

func (r *rule) accepts(prompt, model string) bool {
	for _, s := range r.contains {
		if !strings.Contains(prompt, s) {
			return false
		}
	}
	return (r.matches == nil || r.matches.MatchString(prompt)) && (r.model == "" || r.model == model)
}

// A turn answers one user's prompt.
type turn struct {
	steps  []step
	repeat bool // every later prompt is answered with this turn too
}

// A step is one response of the model.
type step struct {
	reasoning value
	text      value
	calls     []call
	stop      string // "": decided by the calls
	fault     *fault
	delay     time.Duration // before each chunk
	usage     Usage
	repeat    bool // every later response of the turn is this one too
}

// A call is one tool call of a step.
type call struct {
	tool, server string
	asIs         bool   // sent under this very name, offered or not
	pick         string // instead of tool: a kind of tool, chosen among those offered
	nth          int    // which of those picked, from 1
	fill         bool   // required arguments that are not written come from the tool's schema
	arguments    value
	raw          *string // instead of arguments: text that need not be JSON
}

// Usage is the token counts of one response. Input counts neither cache reads
// nor cache writes; Output counts reasoning too.
type Usage struct {
	Input      int `json:"input"`
	CacheRead  int `json:"cache_read"`
	CacheWrite int `json:"cache_write"`
	Output     int `json:"output"`
	Reasoning  int `json:"reasoning"`
}

// defaultUsage is what a response costs when the script does not say.
var defaultUsage = Usage{Input: 200, CacheRead: 1000, CacheWrite: 50, Output: 40, Reasoning: 8}

// A ScenarioInfo describes a scenario to a reader.
type ScenarioInfo struct {
	Name  string
	About string
}

// Scenarios lists the scenarios in the order of the script.
func (s *Script) Scenarios() []ScenarioInfo {
	list := make([]ScenarioInfo, len(s.scenarios))
	for i, sc := range s.scenarios {
		list[i] = ScenarioInfo{sc.name, sc.about}
	}
	return list
}

func (s *Script) scenario(name string) *scenario {
	for _, sc := range s.scenarios {
		if sc.name == name {
			return sc
		}
	}
	return nil
}

// match is the first scenario whose rule accepts the prompt, else the default, else nil.
func (s *Script) match(prompt, model string) *scenario {
	for _, sc := range s.scenarios {
		if sc.rule != nil && sc.rule.accepts(prompt, model) {
			return sc
		}
	}
	return s.scenario(s.fallback)
}
