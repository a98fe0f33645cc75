package anthropic

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/members"
)

// formats are those of strings that the API knows.
var formats = []string{"date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid"}

// narrowing writes one schema, and collects what the API has no words for.
type narrowing struct {
	definitions map[string]json.RawMessage
	within      []string // the definitions that are being followed
	optional    int
	unions      int
	nodes       int
	found       component.Faults
}

// add collects a fault. What several references lead to is told once.
func (n *narrowing) add(at, message, hint string) {
	if f := (component.Fault{At: at, Message: message, Hint: hint}); !slices.Contains(n.found, f) {
		n.found = append(n.found, f)
	}
}

// node writes a schema.
func (n *narrowing) node(raw json.RawMessage, at string, depth int) json.RawMessage {
	fields, ok := members.Of(raw)
	switch n.nodes++; {
	case !ok:
		n.add(at, "it says nothing of a value", "give it a type")
		return nil
	case depth > maxDepth || n.nodes > maxNodes:
		n.add("", "it is too large or too deeply nested", "make it smaller")
		return nil
	}
	if ref := fields.Get("$ref"); ref != nil && depth > 0 {
		n.follow(ref, at+"/$ref", depth)
		return members.Object{{Name: "$ref", Value: ref}}.JSON()
	}
	types := n.shape(fields, at)
	var out members.Object
	for _, m := range fields {
		value, keep := n.field(m, at+"/"+m.Name, depth)
		if m.Name == "oneOf" {
			m.Name = "anyOf"
		}
		if keep {
			out = append(out, members.Member{Name: m.Name, Value: value})
		}
	}
	if slices.Contains(types, "object") {
		out = append(out, members.Member{Name: "additionalProperties", Value: json.RawMessage("false")})
	}
	return out.JSON()
}

// follow looks at the definition that a reference names.
func (n *narrowing) follow(ref json.RawMessage, at string, depth int) {
	var name string
	_ = json.Unmarshal(ref, &name) // no text: there is no such definition
	def, ok := n.definitions[name]
	switch {
	case name == "#" || slices.Contains(n.within, name):
		n.add(at, "it is recursive", "write out as many levels as there may be")
	case !ok:
		n.add(at, "the reference leads to no definition at the top", "define it there, under $defs")
	default:
		n.within = append(n.within, name)
		n.node(def, name[len("#"):], depth+1)
		n.within = n.within[:len(n.within)-1]
	}
}

// shape finds the types of a schema, and whether it says enough to be held to.
func (n *narrowing) shape(fields members.Object, at string) (types []string) {
	raw := fields.Get("type")
	var one string
	if json.Unmarshal(raw, &one) == nil {
		types = []string{one}
	} else {
		_ = json.Unmarshal(raw, &types) // neither: it has no type
	}
	anyOf, oneOf := fields.Get("anyOf"), fields.Get("oneOf")
	switch {
	case anyOf != nil && oneOf != nil:
		n.add(at+"/oneOf", "anyOf and oneOf stand side by side", "leave one of them out")
	case anyOf != nil || oneOf != nil || len(types) > 1:
		n.unions++
	case len(types) == 0 && fields.Get("enum") == nil && fields.Get("const") == nil:
		n.add(at, "it says nothing of a value", "give it a type")
	}
	if slices.Contains(types, "array") && fields.Get("items") == nil {
		n.add(at, "a list may hold anything", "write items: {type: ...}")
	}
	if slices.Contains(types, "object") {
		n.closed(fields, at)
	}
	return types
}

// closed looks whether an object can be closed: it names its properties, and no
// others are meant.
func (n *narrowing) closed(fields members.Object, at string) {
	extra := string(fields.Get("additionalProperties"))
	properties, _ := members.Of(fields.Get("properties"))
	switch {
	case extra == "false":
	case extra != "":
		n.add(at+"/additionalProperties", "the object takes other properties than its own", "write additionalProperties: false; of a dictionary make a list of keys and values")
	case len(properties) == 0:
		n.add(at, "an object may hold anything", "name its properties; of a dictionary make a list of keys and values")
	}
	var required []string
	_ = json.Unmarshal(fields.Get("required"), &required) // of another kind: none is
	for _, p := range properties {
		if !slices.Contains(required, p.Name) {
			n.optional++
		}
	}
}

// field writes one keyword of a schema; keep is false for what only bounds.
func (n *narrowing) field(m members.Member, at string, depth int) (value json.RawMessage, keep bool) {
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
			n.add(at, "definitions stand at the top only", "move them there")
			return nil, false
		}
		return n.each(m.Value, at, depth), true
	case "anyOf", "oneOf":
		return n.list(m.Value, at, depth), true
	case "format":
		return m.Value, slices.Contains(formats, strings.Trim(string(m.Value), `"`))
	case "minItems":
		return m.Value, string(m.Value) == "0" || string(m.Value) == "1"
	case "allOf", "patternProperties", "prefixItems", "$ref":
		n.add(at, m.Name+" is not known there", "write out what it comes to, or leave it out and check it by output.ensures")
	}
	return nil, false
}

// each writes the schemas of an object by name.
func (n *narrowing) each(raw json.RawMessage, at string, depth int) json.RawMessage {
	fields, ok := members.Of(raw)
	if !ok {
		n.add(at, "there are no schemas by name", "write a mapping")
	}
	for i := range fields {
		fields[i].Value = n.node(fields[i].Value, at+"/"+escape(fields[i].Name), depth+1)
	}
	return fields.JSON()
}

// list writes the schemas of a list.
func (n *narrowing) list(raw json.RawMessage, at string, depth int) json.RawMessage {
	var all []json.RawMessage
	if json.Unmarshal(raw, &all) != nil || len(all) == 0 {
		n.add(at, "there is nothing to choose from", "write a list of schemas")
		return nil
	}
	for i := range all {
		all[i] = n.node(all[i], at+"/"+strconv.Itoa(i), depth+1)
	}
	out, err := json.Marshal(all)
	if err != nil { // one of them is none, which was told
		return nil
	}
	return out
}

// scalars looks for lists and objects among values.
func (n *narrowing) scalars(raw json.RawMessage, at, word string) {
	var all []any
	_ = json.Unmarshal(raw, &all) // no list: there are none
	if slices.ContainsFunc(all, func(v any) bool {
		switch v.(type) {
		case map[string]any, []any:
			return true
		}
		return false
	}) {
		n.add(at, word+" has a list or an object as a value", "leave it to type, properties and items")
	}
}

// escape writes a name for a JSON pointer.
func escape(name string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
}
