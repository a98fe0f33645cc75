package schemasubset

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"

	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/orderedjson"
)

// Limits are a vendor's limits on costly parts of a schema; 0 = unknown. Definitions
// count once, however often they are referenced.
type Limits struct {
	Optional int // optional properties
	Unions   int // places that allow several types
}

// Limits of reading a schema.
const (
	maxDepth = 64
	maxNodes = 10_000 // nodes visited: references can expand a short schema
)

// Schema returns a schema, which must be valid JSON, in the form that the vendor can
// enforce, without white space; or nil and what prevents that. Every object is closed, so
// objects that name their properties are closed, which callers do not notice. Constraints
// on numbers, strings and lists are unsupported and dropped, since the caller validates
// anyway. Objects with arbitrary keys, values without a type, and recursion cannot be
// expressed. The order of properties is kept: models write them in that order.
//
// The rules, as of November 2026:
// platform.claude.com/docs/en/build-with-claude/structured-outputs, "JSON Schema
// limitations", and the same at
// docs.aws.amazon.com/bedrock/latest/userguide/structured-output.html, "Supported JSON
// Schema features". Both support allOf "with limitations": it is not sent, since two
// closed objects reject each other's keys.
func Schema(schema json.RawMessage, limits Limits) (json.RawMessage, component.Faults) {
	n := narrower{definitions: map[string]json.RawMessage{}}
	top, _ := orderedjson.Parse(schema)
	if string(top.Get("type")) != `"object"` {
		n.add("", "the root must be an object", "wrap it: {type: object, properties: {answer: ...}, required: [answer]}")
	}
	for _, key := range []string{"$defs", "definitions"} {
		defs, _ := orderedjson.Parse(top.Get(key))
		for _, d := range defs {
			n.definitions["#/"+key+component.Key(d.Name)] = d.Value
		}
	}
	out := n.node(schema, "", 0)
	if limits.Optional > 0 && n.optional > limits.Optional {
		n.add("", fmt.Sprintf("%d properties are optional; the maximum is %d", n.optional, limits.Optional), "add more of them to required")
	}
	if limits.Unions > 0 && n.unions > limits.Unions {
		n.add("", fmt.Sprintf("%d values have several types; the maximum is %d", n.unions, limits.Unions), "remove types or alternatives")
	}
	var b bytes.Buffer
	if n.faults == nil && json.Compact(&b, out) != nil {
		n.add("", "it is not valid JSON", "correct it")
	}
	if n.faults != nil {
		return nil, n.faults
	}
	return b.Bytes(), nil
}

// narrower writes one schema and collects what cannot be expressed.
type narrower struct {
	definitions map[string]json.RawMessage // by reference
	following   []string                   // definitions being followed
	optional    int
	unions      int
	nodes       int
	faults      component.Faults
}

// add adds a fault, once even if several references lead to it.
func (n *narrower) add(at, message, hint string) {
	if f := (component.Fault{At: at, Message: message, Hint: hint}); !slices.Contains(n.faults, f) {
		n.faults = append(n.faults, f)
	}
}

// node writes a schema.
func (n *narrower) node(raw json.RawMessage, at string, depth int) json.RawMessage {
	fields, ok := orderedjson.Parse(raw)
	switch n.nodes++; {
	case !ok:
		n.add(at, "it allows any value", "add a type")
		return nil
	case depth > maxDepth || n.nodes > maxNodes:
		n.add("", "it is too large or too deeply nested", "make it smaller")
		return nil
	}
	if ref := fields.Get("$ref"); ref != nil && depth > 0 {
		n.follow(ref, at+"/$ref", depth)
		return orderedjson.Object{{Name: "$ref", Value: ref}}.JSON()
	}
	types := n.shape(fields, at)
	var out orderedjson.Object
	for _, m := range fields {
		value, keep := n.field(m, at+"/"+m.Name, depth)
		if m.Name == "oneOf" { // oneOf becomes anyOf
			m.Name = "anyOf"
		}
		if keep {
			out = append(out, orderedjson.Member{Name: m.Name, Value: value})
		}
	}
	if slices.Contains(types, "object") {
		out = append(out, orderedjson.Member{Name: "additionalProperties", Value: json.RawMessage("false")})
	}
	return out.JSON()
}

// follow checks the definition of a reference, which counts at its place.
func (n *narrower) follow(ref json.RawMessage, at string, depth int) {
	var name string
	_ = json.Unmarshal(ref, &name) // not a string: no such definition
	if plain, err := url.PathUnescape(name); err == nil {
		name = plain // it is part of a URL
	}
	def, ok := n.definitions[name]
	switch {
	case name == "#" || slices.Contains(n.following, name):
		n.add(at, "it is recursive", "write out the levels that you need")
	case !ok:
		n.add(at, "the reference has no definition at the top level", "define it there, under $defs")
	default:
		optional, unions := n.optional, n.unions
		n.following = append(n.following, name)
		n.node(def, name[len("#"):], depth+1)
		n.following = n.following[:len(n.following)-1]
		n.optional, n.unions = optional, unions
	}
}
