package openai

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/component"
)

// unsupported are keywords that the strict mode refuses.
var unsupported = []string{
	"allOf", "oneOf", "not", "if", "then", "else", "dependentRequired", "dependentSchemas",
	"patternProperties", "propertyNames", "minProperties", "maxProperties", "unevaluatedProperties",
	"unevaluatedItems", "contains", "minContains", "maxContains", "uniqueItems", "prefixItems", "default",
}

var (
	_ engine.SchemaHolder = (*Config)(nil)
	_ engine.SchemaHolder = (*AzureConfig)(nil)
)

// Unheld implements engine.SchemaHolder. What a server at another address does
// with a schema is not known.
func (c *Config) Unheld(s engine.ModelSettings, schema json.RawMessage) component.Faults {
	if c.StructuredOutput != "json_schema" || s.BaseURL != "" {
		return nil
	}
	return unheld(schema)
}

// Unheld implements engine.SchemaHolder.
func (c *AzureConfig) Unheld(_ engine.ModelSettings, schema json.RawMessage) component.Faults {
	if c.StructuredOutput != "json_schema" {
		return nil
	}
	return unheld(schema)
}

// unheld is what of a schema breaks the rules of the strict mode: the root is an
// object, every object closes its properties and requires all of them, and no
// keyword is used that the mode refuses.
func unheld(schema json.RawMessage) component.Faults {
	var root any
	if json.Unmarshal(schema, &root) != nil {
		return nil
	}
	l := &lookout{}
	if top, ok := root.(map[string]any); !ok || top["type"] != "object" {
		l.add("", "its root is no object", "wrap it: {type: object, properties: {answer: ...}, required: [answer], additionalProperties: false}")
	}
	l.value("", root)
	return l.found
}

// lookout collects what breaks the rules.
type lookout struct{ found component.Faults }

func (l *lookout) add(at, message, hint string) {
	l.found = append(l.found, component.Fault{At: at, Message: message, Hint: hint})
}

func (l *lookout) value(at string, v any) {
	s, ok := v.(map[string]any)
	if !ok {
		l.add(at, "it says nothing of a value", "give it a type")
		return
	}
	for _, word := range unsupported {
		if _, used := s[word]; used {
			l.add(at+"/"+word, word+" is not known there", "leave it out, and check it by output.ensures")
		}
	}
	if isObject(s) {
		l.object(at, s)
	}
	for _, word := range []string{"properties", "$defs", "definitions"} {
		inner, _ := s[word].(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(inner)) {
			l.value(at+"/"+word+"/"+escape(name), inner[name])
		}
	}
	options, _ := s["anyOf"].([]any)
	for i, v := range options {
		l.value(at+"/anyOf/"+strconv.Itoa(i), v)
	}
	if items, ok := s["items"]; ok {
		l.value(at+"/items", items)
	}
}

// object looks at what an object says of its properties.
func (l *lookout) object(at string, s map[string]any) {
	if s["additionalProperties"] != false {
		l.add(at, "the object takes other properties than its own", "write additionalProperties: false")
	}
	properties, _ := s["properties"].(map[string]any)
	required, _ := s["required"].([]any)
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		if !slices.Contains(required, any(name)) {
			l.add(at+"/properties/"+escape(name), name+" may be missing", "name it in required, and let its type be [..., \"null\"]")
		}
	}
}

func isObject(s map[string]any) bool {
	if list, ok := s["type"].([]any); ok {
		return slices.Contains(list, any("object"))
	}
	_, has := s["properties"]
	return s["type"] == "object" || has
}

// escape writes a name for a JSON pointer.
func escape(name string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
}
