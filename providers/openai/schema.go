package openai

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/model"
)

// nativeSchema is the value of structured_output that enforces schemas.
const nativeSchema = "json_schema"

// unsupported has the keywords that the strict mode rejects.
var unsupported = []string{
	"allOf", "oneOf", "not", "if", "then", "else", "dependentRequired", "dependentSchemas",
	"patternProperties", "propertyNames", "minProperties", "maxProperties", "unevaluatedProperties",
	"unevaluatedItems", "contains", "minContains", "maxContains", "uniqueItems", "prefixItems", "default",
}

var (
	_ model.SchemaHolder = (*Config)(nil)
	_ model.SchemaHolder = (*AzureConfig)(nil)
)

// UnenforcedKeywords implements model.SchemaHolder. It is unknown what a server at another
// base_url does with a schema.
func (c *Config) UnenforcedKeywords(s model.Settings, schema json.RawMessage) component.Faults {
	if c.StructuredOutput != nativeSchema || s.BaseURL != "" {
		return nil
	}
	return strictViolations(schema)
}

// UnenforcedKeywords implements model.SchemaHolder.
func (c *AzureConfig) UnenforcedKeywords(_ model.Settings, schema json.RawMessage) component.Faults {
	if c.StructuredOutput != nativeSchema {
		return nil
	}
	return strictViolations(schema)
}

// enforcing returns the value of structured_output that enforces schemas, or "" if it is
// set.
func enforcing(structuredOutput string) string {
	if structuredOutput == nativeSchema {
		return ""
	}
	return nativeSchema
}

// formats has the string formats that the strict mode supports. It rejects others.
var formats = []string{"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"}

// strictViolations reports where a schema violates the rules of the strict mode: the root
// is an object without anyOf, every object requires all its properties and allows no
// others, every value has a type, a reference has no other keywords next to it, and no
// unsupported keyword or format is used.
//
// The rules are those of platform.openai.com/docs/guides/structured-outputs under
// "Supported schemas"; those of references, types and lists are from the API's errors.
func strictViolations(schema json.RawMessage) component.Faults {
	var root any
	if json.Unmarshal(schema, &root) != nil {
		return nil
	}
	c := &strictCheck{}
	if top, ok := root.(map[string]any); !ok || top["type"] != "object" {
		c.add("", "the root must be an object", "wrap it: {type: object, properties: {answer: ...}, required: [answer], additionalProperties: false}")
	}
	if top, ok := root.(map[string]any); ok && top["anyOf"] != nil {
		c.add("/anyOf", "the root must not be a choice", "wrap it: {type: object, properties: {answer: {anyOf: ...}}, required: [answer], additionalProperties: false}")
	}
	c.value("", root)
	return c.faults
}

// strictCheck collects violations.
type strictCheck struct{ faults component.Faults }

func (c *strictCheck) add(at, message, hint string) {
	c.faults = append(c.faults, component.Fault{At: at, Message: message, Hint: hint})
}

func (c *strictCheck) value(at string, v any) {
	s, ok := v.(map[string]any)
	if !ok {
		c.add(at, "it allows any value", "add a type")
		return
	}
	for _, word := range unsupported {
		if _, used := s[word]; used {
			c.add(at+"/"+word, word+" is not supported", "remove it, and check it with output.ensures")
		}
	}
	c.typed(at, s)
	if isObject(s) {
		c.object(at, s)
	}
	for _, word := range []string{"properties", "$defs", "definitions"} {
		inner, _ := s[word].(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(inner)) {
			c.value(at+"/"+word+component.Key(name), inner[name])
		}
	}
	options, _ := s["anyOf"].([]any)
	for i, v := range options {
		c.value(at+"/anyOf/"+strconv.Itoa(i), v)
	}
	if items, ok := s["items"]; ok {
		c.value(at+"/items", items)
	}
}

// typed checks that a schema restricts the type of a value as the mode requires.
func (c *strictCheck) typed(at string, s map[string]any) {
	has := func(word string) bool { _, ok := s[word]; return ok }
	format, formatted := s["format"].(string)
	switch {
	case has("$ref") && len(s) > 1:
		c.add(at+"/$ref", "a reference has other keywords next to it", "remove them, or write the referenced schema instead")
	case has("$ref"), has("anyOf"), has("enum"), has("const"), has("properties"), has("oneOf"), has("allOf"): // oneOf and allOf are reported by value
	case !has("type") && at != "":
		c.add(at, "it allows any value", "add a type")
	case is(s, "array") && !has("items") && !has("prefixItems"):
		c.add(at, "a list allows any items", "write items: {type: ...}")
	case formatted && !slices.Contains(formats, format):
		c.add(at+"/format", "format "+format+" is not supported", "remove it, and check it with output.ensures")
	}
}

// object checks that an object requires all its properties and allows no others.
func (c *strictCheck) object(at string, s map[string]any) {
	if s["additionalProperties"] != false {
		c.add(at, "the object allows additional properties", "write additionalProperties: false")
	}
	properties, _ := s["properties"].(map[string]any)
	required, _ := s["required"].([]any)
	var missing []string
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		if !slices.Contains(required, any(name)) {
			missing = append(missing, name)
		}
	}
	switch len(missing) {
	case 0:
	case 1:
		c.add(at+"/properties"+component.Key(missing[0]), missing[0]+" is not required", "add it to required, and allow null: type: [..., \"null\"]")
	default:
		c.add(at, strings.Join(missing, ", ")+" are not required", "add them to required, and allow null: type: [..., \"null\"]")
	}
	for _, name := range required {
		if text, ok := name.(string); ok && properties[text] == nil {
			c.add(at+"/required", text+" is required but not a property", "define it in properties, or remove it from required")
		}
	}
}

func isObject(s map[string]any) bool {
	_, has := s["properties"]
	return has || is(s, "object")
}

// is reports whether a schema allows a type.
func is(s map[string]any, kind string) bool {
	list, ok := s["type"].([]any)
	return s["type"] == kind || ok && slices.Contains(list, any(kind))
}
