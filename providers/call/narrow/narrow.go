package narrow

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"

	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/members"
)

// Limits are how much of what makes a schema costly a vendor takes; 0 = it does
// not say. Definitions count once, however many references there are to them.
type Limits struct {
	Optional int // properties that need not be there
	Unions   int // places where a value of one of several types may stand
}

// How deep a schema is read, and how much of it.
const (
	maxDepth = 64
	maxNodes = 10_000 // looked at: references may make a short schema a long one
)

// Schema is a schema, which must be valid JSON, as a vendor can hold a model to
// it, without blanks; or nil, and what keeps the vendor from that. Every object
// is closed, and bounds of numbers, texts and lists are not known: so objects
// that name their properties are closed, which no caller misses, and what only
// bounds is left out, since the caller validates in any case. An object that may
// hold anything, a value without a type and a recursion cannot be said. The order
// of properties stays: it is the order in which they are written.
//
// The rules, as read in November 2026:
// platform.claude.com/docs/en/build-with-claude/structured-outputs, under "JSON
// Schema limitations", and the same at
// docs.aws.amazon.com/bedrock/latest/userguide/structured-output.html, under
// "Supported JSON Schema features". Of allOf both say "with limitations": it is
// not sent, since of two closed objects each refuses the keys of the other.
func Schema(schema json.RawMessage, most Limits) (json.RawMessage, component.Faults) {
	n := narrowing{definitions: map[string]json.RawMessage{}}
	top, _ := members.Of(schema)
	if string(top.Get("type")) != `"object"` {
		n.add("", "its root is no object", "wrap it: {type: object, properties: {answer: ...}, required: [answer]}")
	}
	for _, key := range []string{"$defs", "definitions"} {
		defs, _ := members.Of(top.Get(key))
		for _, d := range defs {
			n.definitions["#/"+key+component.Key(d.Name)] = d.Value
		}
	}
	out := n.node(schema, "", 0)
	if most.Optional > 0 && n.optional > most.Optional {
		n.add("", fmt.Sprintf("%d properties may be missing where %d may", n.optional, most.Optional), "name more of them in required")
	}
	if most.Unions > 0 && n.unions > most.Unions {
		n.add("", fmt.Sprintf("%d values may be of several types where %d may", n.unions, most.Unions), "leave types or alternatives out")
	}
	var b bytes.Buffer
	if n.found == nil && json.Compact(&b, out) != nil {
		n.add("", "it is not valid JSON", "mend it")
	}
	if n.found != nil {
		return nil, n.found
	}
	return b.Bytes(), nil
}

// narrowing writes one schema, and collects what there are no words for.
type narrowing struct {
	definitions map[string]json.RawMessage // by the references to them
	within      []string                   // those that are being followed
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
		if m.Name == "oneOf" { // what one of several must fit, any may
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

// follow looks at the definition that a reference names, which is counted where
// it stands.
func (n *narrowing) follow(ref json.RawMessage, at string, depth int) {
	var name string
	_ = json.Unmarshal(ref, &name) // no text: there is no such definition
	if plain, err := url.PathUnescape(name); err == nil {
		name = plain // it is a part of an address
	}
	def, ok := n.definitions[name]
	switch {
	case name == "#" || slices.Contains(n.within, name):
		n.add(at, "it is recursive", "write out as many levels as there may be")
	case !ok:
		n.add(at, "the reference leads to no definition at the top", "define it there, under $defs")
	default:
		optional, unions := n.optional, n.unions
		n.within = append(n.within, name)
		n.node(def, name[len("#"):], depth+1)
		n.within = n.within[:len(n.within)-1]
		n.optional, n.unions = optional, unions
	}
}
