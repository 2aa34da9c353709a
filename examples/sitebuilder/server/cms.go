package server

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

const maxActions = 20

// cmsActions maps the actions of data_cms_tool, in the order shown, to the tools that do the same one at a time.
func cmsActions() [][2]string {
	return [][2]string{
		{"list_collections", "collections_list"}, {"get_collection", "collections_get"}, {"create_collection", "collections_create"},
		{"create_field", "collection_fields_create"}, {"list_items", "collection_items_list"}, {"create_items", "collection_items_create"},
		{"update_items", "collection_items_update"}, {"publish_items", "collection_items_publish"}, {"delete_items", "collection_items_delete"},
	}
}

type actionResult struct {
	Action string `json:"action"`
	OK     bool   `json:"ok"`
	Result any    `json:"result,omitempty"`
	Error  string `json:"error,omitempty"`
}

// cmsTool is one tool for all of the CMS: it runs a list of actions in order and stops at the first that fails.
func cmsTool(all []*tool) *tool {
	runners := map[string]runner{}
	var names []string
	var args []argument
	for _, pair := range cmsActions() {
		for _, t := range all {
			if t.Name == pair[1] {
				runners[pair[0]] = t.run
				args = append(args, may(pair[0], t.InputSchema.(*jsonschema.Schema)))
			}
		}
		names = append(names, pair[0])
	}
	one := 1
	action := object("One action: an object with one key, the action's name.", args...)
	action.MinProperties, action.MaxProperties = &one, &one
	input := object("", need("actions", list("The actions, in order.", action)))
	return define("data_cms_tool", "CMS tool", destroys, "Does several things in the CMS in one call: "+strings.Join(names, ", ")+
		". Each action is an object with one key. They run in order; after one that fails the rest is not run, and what was done before stays done.", input,
		func(in *Instance, a struct {
			Actions []map[string]json.RawMessage `json:"actions"`
		}) (any, error) {
			return runActions(in, runners, names, a.Actions)
		})
}

func runActions(in *Instance, runners map[string]runner, names []string, actions []map[string]json.RawMessage) (any, error) {
	if len(actions) == 0 || len(actions) > maxActions {
		return nil, fmt.Errorf("give 1 to %d actions, not %d", maxActions, len(actions))
	}
	for i, a := range actions {
		for name := range a {
			if runners[name] == nil {
				return nil, fmt.Errorf("action %d: %q is not known; use one of %s", i+1, name, strings.Join(names, ", "))
			}
		}
		if len(a) != 1 {
			return nil, fmt.Errorf("action %d has %d keys; each action is an object with one key, the action's name", i+1, len(a))
		}
	}
	results := []actionResult{}
	for _, a := range actions {
		for name, args := range a {
			v, err := runners[name](in, args)
			if err != nil {
				return nil, actionsFailed(append(results, actionResult{Action: name, Error: err.Error()}), len(actions))
			}
			results = append(results, actionResult{Action: name, OK: true, Result: v})
		}
	}
	return map[string]any{"results": results}, nil
}

func actionsFailed(results []actionResult, n int) error {
	last := results[len(results)-1]
	done, err := encode(results[:len(results)-1])
	if err != nil {
		return err
	}
	return fmt.Errorf("action %d of %d (%s): %s; done before it: %s", len(results), n, last.Action, last.Error, done)
}
