package coverage

import (
	"encoding/json"
	"strings"

	"github.com/evalengine/evalengine/engine/eval"
)

// Ask is something that a story asks for: a call of one of the tools.
type Ask struct {
	// Use is what of the story asks for it: the scorer's use, or "check/" and the
	// check's name.
	Use string
	// Tools are patterns.
	Tools []string
	// Action is a pattern of actions; empty asks for the tool.
	Action string
	// Values are arguments asked for, by JSON pointer: one of them may name an
	// action.
	Values map[string]string
	// Texts says that Tools are all the texts that a condition looks for in calls:
	// some of them may be names of tools or of actions, and none is a pattern.
	Texts bool
}

// Use is one use of a scorer in a story.
type Use struct {
	Name, Scorer string
	Role         eval.Role
	// Params are those that are known before a trial, as one JSON object.
	Params eval.JSON
}

// params are those of scorers that name tools.
type params struct {
	Tool    string
	Tools   []string
	Action  string
	Min     *float64
	Max     *float64
	Equals  *float64
	Match   string
	Pointer string
	Value   any
}

// AsksOf returns what a use of a scorer asks for. What forbids calls or only looks
// at those that were made, such as tools/not_called or tools/no_errors, asks for
// none; nor does a measure, but for tools/expected, which lists what a story was
// written for. An assert of another module asks for what its parameters tool and
// tools name.
func AsksOf(u Use) []Ask {
	var p params
	if json.Unmarshal(u.Params, &p) != nil {
		return nil
	}
	switch u.Scorer {
	case "tools/called":
		if zero(p.Max) || zero(p.Min) {
			return nil
		}
		return []Ask{{Use: u.Name, Tools: tools(p.Tool), Action: p.Action}}
	case "tools/count":
		if zero(p.Max) || zero(p.Equals) || p.Equals == nil && (p.Min == nil || zero(p.Min)) {
			return nil
		}
		return []Ask{{Use: u.Name, Tools: tools(p.Tool), Action: p.Action}}
	case "tools/arguments":
		return []Ask{{Use: u.Name, Tools: tools(p.Tool), Action: p.Action, Values: p.values()}}
	case "tools/result":
		return []Ask{{Use: u.Name, Tools: tools(p.Tool)}}
	case "tools/order", "tools/expected":
		return each(u.Name, p.Tools)
	}
	if strings.HasPrefix(u.Scorer, "tools/") || u.Role != eval.RoleAssert {
		return nil
	}
	return each(u.Name, append(tools(p.Tool), p.Tools...))
}

func zero(v *float64) bool { return v != nil && *v <= 0 }

func tools(name string) []string {
	if name == "" {
		return nil
	}
	return []string{name}
}

func each(use string, names []string) []Ask {
	var asks []Ask
	for _, n := range names {
		asks = append(asks, Ask{Use: use, Tools: tools(n)})
	}
	return asks
}

// values are the constant arguments that a tools/arguments asks for.
func (p *params) values() map[string]string {
	if p.Match != "" && p.Match != "exact" && p.Match != "subset" {
		return nil
	}
	if s, ok := scalar(p.Value); ok {
		return map[string]string{p.Pointer: s}
	}
	values := map[string]string{}
	members, _ := p.Value.(map[string]any)
	for k, v := range members {
		if s, ok := scalar(v); ok {
			values[p.Pointer+"/"+strings.NewReplacer("~", "~0", "/", "~1").Replace(k)] = s
		}
	}
	return values
}

func scalar(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case float64:
		b, err := json.Marshal(v)
		return string(b), err == nil
	}
	return "", false
}
