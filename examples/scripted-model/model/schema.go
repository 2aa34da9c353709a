package model

import "encoding/json"

// A schema is the part of a tool's input schema that filling reads.
type schema struct {
	Type       json.RawMessage            `json:"type"` // a name, or a list of them
	Properties map[string]json.RawMessage `json:"properties"`
	Required   []string                   `json:"required"`
	Items      json.RawMessage            `json:"items"`
	Enum       []any                      `json:"enum"`
	Const      any                        `json:"const"`
	Default    any                        `json:"default"`
	Minimum    *json.Number               `json:"minimum"`
	MinItems   int                        `json:"minItems"`
	AnyOf      []json.RawMessage          `json:"anyOf"`
	OneOf      []json.RawMessage          `json:"oneOf"`
	Format     string                     `json:"format"`
}

// maxFill bounds how deep filling follows a schema.
const maxFill = 8

// fill adds to args the required properties of a schema that are not there.
// A schema that cannot be read adds nothing.
func fill(raw json.RawMessage, args map[string]any) {
	var s schema
	if json.Unmarshal(raw, &s) != nil {
		return
	}
	for _, name := range s.Required {
		if _, there := args[name]; !there {
			args[name] = example(s.Properties[name], 0)
		}
	}
}

// example is a value that a schema accepts, as far as it is simple.
func example(raw json.RawMessage, depth int) any {
	var s schema
	if depth > maxFill || json.Unmarshal(raw, &s) != nil {
		return "example"
	}
	switch {
	case s.Const != nil:
		return s.Const
	case s.Default != nil:
		return s.Default
	case len(s.Enum) > 0:
		return s.Enum[0]
	case len(s.AnyOf) > 0:
		return example(s.AnyOf[0], depth+1)
	case len(s.OneOf) > 0:
		return example(s.OneOf[0], depth+1)
	}
	return s.example(depth)
}

func (s schema) example(depth int) any {
	switch s.typeName() {
	case "object":
		obj := map[string]any{}
		for _, name := range s.Required {
			obj[name] = example(s.Properties[name], depth+1)
		}
		return obj
	case "array":
		list := []any{}
		for range min(s.MinItems, 4) {
			list = append(list, example(s.Items, depth+1))
		}
		return list
	case "integer", "number":
		if s.Minimum != nil {
			return *s.Minimum
		}
		return 1
	case "boolean":
		return false
	case "null":
		return nil
	}
	switch s.Format {
	case "uri":
		return "https://example.com/"
	case "date":
		return "2026-01-01"
	case "date-time":
		return "2026-01-01T00:00:00Z"
	}
	return "example"
}

func (s schema) typeName() string {
	var one string
	if json.Unmarshal(s.Type, &one) == nil {
		return one
	}
	var several []string
	if json.Unmarshal(s.Type, &several) == nil && len(several) > 0 {
		return several[0]
	}
	return ""
}
