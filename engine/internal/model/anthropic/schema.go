package anthropic

import (
	"encoding/json"
	"maps"
	"slices"
)

// bounds are words of JSON Schema that the API does not take. The asker checks
// the answer by the whole schema; the model is told of them in words.
var bounds = []string{
	"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength",
	"maxItems", "uniqueItems", "minProperties", "maxProperties", "$schema", "$id",
}

// fit returns the schema as the API takes it: objects are closed, and bounds are
// said in the description.
func fit(schema map[string]any) map[string]any {
	out := make(map[string]any, len(schema))
	said := map[string]any{}
	for word, v := range schema {
		switch {
		case slices.Contains(bounds, word) || word == "minItems" && v != 0.0 && v != 1.0:
			if word[0] != '$' {
				said[word] = v
			}
		case word == "properties" || word == "$defs" || word == "definitions":
			out[word] = fitEach(v)
		case word == "enum" || word == "const" || word == "default" || word == "examples":
			out[word] = v
		default:
			out[word] = fitAny(v)
		}
	}
	if _, ok := out["properties"]; ok || out["type"] == "object" {
		out["additionalProperties"] = false
	}
	if len(said) > 0 {
		text, _ := json.Marshal(said)
		doc, _ := out["description"].(string)
		if doc != "" {
			doc += " "
		}
		out["description"] = doc + string(text)
	}
	return out
}

func fitAny(v any) any {
	switch v := v.(type) {
	case map[string]any:
		return fit(v)
	case []any:
		list := slices.Clone(v)
		for i := range list {
			list[i] = fitAny(list[i])
		}
		return list
	}
	return v
}

// fitEach fits the members of an object whose names are the schema's own.
func fitEach(v any) any {
	members, ok := v.(map[string]any)
	if !ok {
		return v
	}
	members = maps.Clone(members)
	for name := range members {
		members[name] = fitAny(members[name])
	}
	return members
}
