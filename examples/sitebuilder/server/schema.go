package server

import "github.com/google/jsonschema-go/jsonschema"

// An argument is one property of a tool's input.
type argument struct {
	name     string
	required bool
	schema   *jsonschema.Schema
}

func need(name string, s *jsonschema.Schema) argument { return argument{name, true, s} }

func may(name string, s *jsonschema.Schema) argument { return argument{name, false, s} }

func object(description string, args ...argument) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "object", Description: description, Properties: map[string]*jsonschema.Schema{}, AdditionalProperties: &jsonschema.Schema{Not: &jsonschema.Schema{}}}
	for _, a := range args {
		s.Properties[a.name] = a.schema
		s.PropertyOrder = append(s.PropertyOrder, a.name)
		if a.required {
			s.Required = append(s.Required, a.name)
		}
	}
	return s
}

func text(description string) *jsonschema.Schema {
	return &jsonschema.Schema{Type: "string", Description: description}
}

func choice(description string, values ...string) *jsonschema.Schema {
	s := text(description)
	for _, v := range values {
		s.Enum = append(s.Enum, v)
	}
	return s
}

func number(description string) *jsonschema.Schema {
	return &jsonschema.Schema{Type: "integer", Description: description}
}

func flag(description string) *jsonschema.Schema {
	return &jsonschema.Schema{Type: "boolean", Description: description}
}

func list(description string, items *jsonschema.Schema) *jsonschema.Schema {
	return &jsonschema.Schema{Type: "array", Description: description, Items: items}
}

// table is an object with any keys.
func table(description string, values *jsonschema.Schema) *jsonschema.Schema {
	return &jsonschema.Schema{Type: "object", Description: description, AdditionalProperties: values}
}

func siteID() argument { return need("site_id", text("Id of the site, from sites_list.")) }

func pageID() argument { return need("page_id", text("Id of the page, from pages_list.")) }

func elementID() argument { return need("element_id", text("Id of the element, from pages_get.")) }

func collectionID() argument {
	return need("collection_id", text("Id of the collection, from collections_list."))
}
