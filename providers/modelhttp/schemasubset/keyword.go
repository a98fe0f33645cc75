package schemasubset

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/orderedjson"
)

// formats are the supported string formats.
var formats = []string{"date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid"}

// unsupported are keywords that define a value and have no replacement.
var unsupported = []string{
	"$dynamicRef", "allOf", "if", "then", "else", "dependentSchemas", "dependencies", "patternProperties", "prefixItems", "unevaluatedProperties",
}

// typeDefining are those of them that replace a type, properties or items.
var typeDefining = []string{"$ref", "$dynamicRef", "allOf", "patternProperties", "prefixItems"} // typeDefining are keywords that replace a type, properties or items.

// shape returns the types of a schema, and checks that it is specific enough.
func (n *narrower) shape(fields orderedjson.Object, at string) []string {
	types := kinds(fields)
	anyOf, oneOf := fields.Get("anyOf"), fields.Get("oneOf")
	if slices.ContainsFunc(fields, func(m orderedjson.Member) bool { return slices.Contains(typeDefining, m.Name) }) {
		return types // reported elsewhere
	}
	switch {
	case anyOf != nil && oneOf != nil:
		n.add(at+"/oneOf", "anyOf and oneOf are used together", "remove one of them")
	case anyOf != nil || oneOf != nil || len(types) > 1:
		n.unions++
	case len(types) == 0 && fields.Get("enum") == nil && fields.Get("const") == nil:
		n.add(at, "it allows any value", "add a type")
	}
	if slices.Contains(types, "array") && fields.Get("items") == nil {
		n.add(at, "a list allows any items", "write items: {type: ...}")
	}
	if slices.Contains(types, "object") {
		n.checkClosed(fields, at)
	}
	return types
}

// kinds returns the types that a schema names.
func kinds(fields orderedjson.Object) (types []string) {
	raw := fields.Get("type")
	var one string
	if raw != nil && json.Unmarshal(raw, &one) == nil {
		return []string{one}
	}
	_ = json.Unmarshal(raw, &types) // neither: it has no type
	return types
}

// checkClosed checks that an object can be closed: it names its properties, and no others
// are intended.
func (n *narrower) checkClosed(fields orderedjson.Object, at string) {
	extra := string(fields.Get("additionalProperties"))
	named := fields.Get("properties")
	properties, mapping := orderedjson.Parse(named)
	switch {
	case extra == "false":
	case extra != "":
		n.add(at+"/additionalProperties", "the object allows additional properties", "write additionalProperties: false; replace a dictionary by a list of keys and values")
	case len(properties) == 0 && (mapping || named == nil): // otherwise reported elsewhere
		n.add(at, "an object allows any properties", "define its properties; replace a dictionary by a list of keys and values")
	}
	var required []string
	_ = json.Unmarshal(fields.Get("required"), &required) // invalid: nothing is required
	for _, p := range properties {
		if !slices.Contains(required, p.Name) {
			n.optional++
		}
	}
	for _, name := range required {
		if len(properties) > 0 && properties.Get(name) == nil {
			n.add(at+"/required", name+" is required but not a property", "define it in properties, or remove it from required")
		}
	}
}

// field writes one keyword of a schema; keep is false for constraints.
func (n *narrower) field(m orderedjson.Member, at string, depth int) (value json.RawMessage, keep bool) {
	switch m.Name {
	case "type", "required", "description", "title":
		return m.Value, true
	case "enum":
		n.scalars(m.Value, at, "enum")
		return m.Value, true
	case "const":
		n.scalars(append(append([]byte{'['}, m.Value...), ']'), at, "const")
		return m.Value, true
	case "items":
		return n.node(m.Value, at, depth+1), true
	case "properties":
		return n.each(m.Value, at, depth), true
	case "$defs", "definitions":
		if depth > 0 {
			n.add(at, "definitions are allowed only at the top level", "move them there")
			return nil, false
		}
		return n.each(m.Value, at, depth), true
	case "anyOf", "oneOf":
		return n.list(m.Value, at, depth), true
	case "format":
		return m.Value, slices.Contains(formats, strings.Trim(string(m.Value), `"`))
	case "minItems":
		return m.Value, string(m.Value) == "0" || string(m.Value) == "1"
	case "$ref":
		n.add(at, "the root is a reference", "write the referenced schema instead")
	}
	n.reportUnsupported(m, at)
	return nil, false
}

// reportUnsupported reports a keyword that cannot be dropped.
func (n *narrower) reportUnsupported(m orderedjson.Member, at string) {
	const hint = "replace it by supported keywords, or remove it and check it with output.ensures"
	switch {
	case m.Name == "allOf":
		n.add(at, "allOf is not supported, because its parts cannot be closed", hint)
	case m.Name == "unevaluatedProperties" && string(m.Value) == "false": // it will be closed
	case slices.Contains(unsupported, m.Name):
		n.add(at, m.Name+" is not supported", hint)
	}
}

// each writes the schemas of an object by name.
func (n *narrower) each(raw json.RawMessage, at string, depth int) json.RawMessage {
	fields, ok := orderedjson.Parse(raw)
	if !ok {
		n.add(at, "it must be a mapping of schemas", "write a mapping")
	}
	for i, f := range fields {
		fields[i].Value = n.node(f.Value, at+component.Key(f.Name), depth+1)
	}
	return fields.JSON()
}

// list writes the schemas of a list.
func (n *narrower) list(raw json.RawMessage, at string, depth int) json.RawMessage {
	var all []json.RawMessage
	if json.Unmarshal(raw, &all) != nil || len(all) == 0 {
		n.add(at, "it must be a list of schemas", "write a list of schemas")
		return nil
	}
	for i := range all {
		all[i] = n.node(all[i], at+"/"+strconv.Itoa(i), depth+1)
	}
	out, err := json.Marshal(all)
	if err != nil { // one of them is invalid, which was reported
		return nil
	}
	return out
}

// scalars reports lists and objects among values.
func (n *narrower) scalars(raw json.RawMessage, at, word string) {
	var all []any
	_ = json.Unmarshal(raw, &all) // not a list: there are none
	if slices.ContainsFunc(all, func(v any) bool {
		switch v.(type) {
		case map[string]any, []any:
			return true
		}
		return false
	}) {
		n.add(at, word+" contains a list or an object", "use type, properties and items instead")
	}
}
