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

// unsupported are keywords that the strict mode refuses.
var unsupported = []string{
	"allOf", "oneOf", "not", "if", "then", "else", "dependentRequired", "dependentSchemas",
	"patternProperties", "propertyNames", "minProperties", "maxProperties", "unevaluatedProperties",
	"unevaluatedItems", "contains", "minContains", "maxContains", "uniqueItems", "prefixItems", "default",
}

var (
	_ model.SchemaHolder = (*Config)(nil)
	_ model.SchemaHolder = (*AzureConfig)(nil)
)

// UnenforcedKeywords implements model.SchemaHolder. What a server at another address does
// with a schema is not known.
func (c *Config) UnenforcedKeywords(s model.Settings, schema json.RawMessage) component.Faults {
	if c.StructuredOutput != "json_schema" || s.BaseURL != "" {
		return nil
	}
	return unheld(schema)
}

// UnenforcedKeywords implements model.SchemaHolder.
func (c *AzureConfig) UnenforcedKeywords(_ model.Settings, schema json.RawMessage) component.Faults {
	if c.StructuredOutput != "json_schema" {
		return nil
	}
	return unheld(schema)
}

// formats are those of texts that the strict mode knows: it refuses others.
var formats = []string{"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"}

// unheld is what of a schema breaks the rules of the strict mode: the root is an
// object and no choice, every object closes its properties and requires all of
// them, every value has a type, a reference stands alone, and no keyword and no
// format is used that the mode refuses.
//
// The rules: platform.openai.com/docs/guides/structured-outputs, under "Supported
// schemas"; the API's own refusals name those of references, types and lists.
func unheld(schema json.RawMessage) component.Faults {
	var root any
	if json.Unmarshal(schema, &root) != nil {
		return nil
	}
	l := &lookout{}
	if top, ok := root.(map[string]any); !ok || top["type"] != "object" {
		l.add("", "the root must be an object", "wrap it: {type: object, properties: {answer: ...}, required: [answer], additionalProperties: false}")
	}
	if top, ok := root.(map[string]any); ok && top["anyOf"] != nil {
		l.add("/anyOf", "the root must not be a choice", "wrap it: {type: object, properties: {answer: {anyOf: ...}}, required: [answer], additionalProperties: false}")
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
		l.add(at, "it allows any value", "add a type")
		return
	}
	for _, word := range unsupported {
		if _, used := s[word]; used {
			l.add(at+"/"+word, word+" is not supported", "remove it, and check it with output.ensures")
		}
	}
	l.typed(at, s)
	if isObject(s) {
		l.object(at, s)
	}
	for _, word := range []string{"properties", "$defs", "definitions"} {
		inner, _ := s[word].(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(inner)) {
			l.value(at+"/"+word+component.Key(name), inner[name])
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

// typed looks whether a schema says what a value is, in the mode's words.
func (l *lookout) typed(at string, s map[string]any) {
	has := func(word string) bool { _, ok := s[word]; return ok }
	format, formatted := s["format"].(string)
	switch {
	case has("$ref") && len(s) > 1:
		l.add(at+"/$ref", "a reference has other keywords next to it", "remove them, or write the referenced schema instead")
	case has("$ref"), has("anyOf"), has("enum"), has("const"), has("properties"), has("oneOf"), has("allOf"): // the last are told
	case !has("type") && at != "":
		l.add(at, "it allows any value", "add a type")
	case is(s, "array") && !has("items") && !has("prefixItems"):
		l.add(at, "a list allows any items", "write items: {type: ...}")
	case formatted && !slices.Contains(formats, format):
		l.add(at+"/format", "format "+format+" is not supported", "remove it, and check it with output.ensures")
	}
}

// object looks at what an object says of its properties.
func (l *lookout) object(at string, s map[string]any) {
	if s["additionalProperties"] != false {
		l.add(at, "the object allows additional properties", "write additionalProperties: false")
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
		l.add(at+"/properties"+component.Key(missing[0]), missing[0]+" is not required", "add it to required, and allow null: type: [..., \"null\"]")
	default:
		l.add(at, strings.Join(missing, ", ")+" are not required", "add them to required, and allow null: type: [..., \"null\"]")
	}
	for _, name := range required {
		if text, ok := name.(string); ok && properties[text] == nil {
			l.add(at+"/required", text+" is required but not a property", "define it in properties, or remove it from required")
		}
	}
}

func isObject(s map[string]any) bool {
	_, has := s["properties"]
	return has || is(s, "object")
}

// is says whether a value may be of a type.
func is(s map[string]any, kind string) bool {
	list, ok := s["type"].([]any)
	return s["type"] == kind || ok && slices.Contains(list, any(kind))
}
