package openai

import (
	"encoding/json"
	"slices"
)

// unsupported are keywords that the strict mode refuses.
var unsupported = []string{
	"allOf", "oneOf", "not", "if", "then", "else", "dependentRequired", "dependentSchemas",
	"patternProperties", "propertyNames", "minProperties", "maxProperties", "unevaluatedProperties",
	"unevaluatedItems", "contains", "minContains", "maxContains", "uniqueItems", "prefixItems", "default",
}

// strict says whether a schema keeps the rules of OpenAI's strict mode: the
// root is an object, every object closes its properties and requires all of
// them, and no keyword is used that the mode refuses. Others are sent without
// it: the server then does its best, and the caller validates in any case.
func strict(schema json.RawMessage) bool {
	var root any
	if json.Unmarshal(schema, &root) != nil {
		return false
	}
	top, ok := root.(map[string]any)
	return ok && top["type"] == "object" && strictNode(top)
}

func strictNode(s map[string]any) bool {
	for _, word := range unsupported {
		if _, used := s[word]; used {
			return false
		}
	}
	if isObject(s) && !closed(s) {
		return false
	}
	for _, word := range []string{"properties", "$defs", "definitions"} {
		if inner, ok := s[word].(map[string]any); ok {
			for _, v := range inner {
				if !strictValue(v) {
					return false
				}
			}
		}
	}
	if options, ok := s["anyOf"].([]any); ok && !all(options) {
		return false
	}
	items, ok := s["items"]
	return !ok || strictValue(items)
}

func strictValue(v any) bool {
	s, ok := v.(map[string]any)
	return ok && strictNode(s)
}

func all(list []any) bool {
	for _, v := range list {
		if !strictValue(v) {
			return false
		}
	}
	return true
}

func isObject(s map[string]any) bool {
	if list, ok := s["type"].([]any); ok {
		return slices.Contains(list, any("object"))
	}
	_, has := s["properties"]
	return s["type"] == "object" || has
}

// closed says that an object allows its properties only, and requires them all.
func closed(s map[string]any) bool {
	if s["additionalProperties"] != false {
		return false
	}
	properties, _ := s["properties"].(map[string]any)
	required, _ := s["required"].([]any)
	for name := range properties {
		if !slices.Contains(required, any(name)) {
			return false
		}
	}
	return true
}
