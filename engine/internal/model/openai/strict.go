package openai

// unsupported are words of JSON Schema that strict mode does not take.
var unsupported = []string{
	"oneOf", "allOf", "not", "if", "then", "else", "patternProperties", "propertyNames", "unevaluatedProperties",
	"dependentRequired", "dependentSchemas", "minProperties", "maxProperties", "contains", "uniqueItems", "minLength", "maxLength",
}

// strict reports whether a schema is one that the API can promise to keep: every
// object has all its properties required and no others, and none of the words is
// used that it does not know.
func strict(schema any) bool {
	switch s := schema.(type) {
	case []any:
		for _, v := range s {
			if !strict(v) {
				return false
			}
		}
	case map[string]any:
		for _, word := range unsupported {
			if _, ok := s[word]; ok {
				return false
			}
		}
		if !closed(s) {
			return false
		}
		for name, v := range s {
			if name == "properties" || name == "$defs" {
				members, _ := v.(map[string]any)
				for _, m := range members {
					if !strict(m) {
						return false
					}
				}
				continue
			}
			if name != "enum" && name != "const" && name != "default" && name != "examples" && !strict(v) {
				return false
			}
		}
	}
	return true
}

// closed reports whether s, where it is of objects, has every property required
// and no others.
func closed(s map[string]any) bool {
	props, ok := s["properties"].(map[string]any)
	if !ok {
		return s["type"] != "object"
	}
	if s["additionalProperties"] != false {
		return false
	}
	required := map[string]bool{}
	list, _ := s["required"].([]any)
	for _, v := range list {
		if name, ok := v.(string); ok {
			required[name] = true
		}
	}
	for name := range props {
		if !required[name] {
			return false
		}
	}
	return true
}
