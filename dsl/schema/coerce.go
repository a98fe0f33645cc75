package schema

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Coerce fixes common mistakes of models in a value whose meaning is unambiguous:
// an object or list written as a string of JSON, a number or boolean written as a
// string or vice versa. changed lists the changes, sorted by path; v is not
// modified. Ambiguous values stay, for Validate to reject.
func (s *Schema) Coerce(v any) (out any, changed []Change) {
	c := &coercion{audit: s.audit}
	out = c.value("", v, []any{s.doc})
	return out, c.changed
}

// Change is one value that Coerce replaced.
type Change struct {
	Path     string // JSON Pointer; "" for the whole value
	From, To any
}

// String returns the place and the types of a change, not the values.
func (c Change) String() string {
	return fmt.Sprintf("%s: %s", place(c.Path), c.Types())
}

// Types describes the types of the change: "integer given as a string".
func (c Change) Types() string { return typeOf(c.To) + " given as " + article(typeOf(c.From)) }

// TakesText reports whether the schema allows strings: by type, by the values of
// enum or const, or in an alternative.
func (s *Schema) TakesText() bool {
	w := &expectedTypes{audit: s.audit, types: map[string]bool{}}
	return w.add(s.doc, 0) && w.types["string"]
}

// Typed reports whether the schema restricts the types of a value.
func (s *Schema) Typed() bool {
	return (&expectedTypes{audit: s.audit, types: map[string]bool{}}).add(s.doc, 0)
}

type coercion struct {
	audit   *audit
	changed []Change
}

// value coerces v to the schemas that apply to it.
func (c *coercion) value(path string, v any, schemas []any) any {
	w := &expectedTypes{audit: c.audit, types: map[string]bool{}}
	typed := false
	for _, s := range schemas {
		typed = w.add(s, 0) || typed
	}
	if t := typeOf(v); typed && !w.accepts(t) {
		if n, ok := convert(v, w.types); ok {
			c.changed = append(c.changed, Change{path, v, n})
			v = n
		}
	}
	return c.inside(path, v, w)
}

// inside coerces the content of an object or a list.
func (c *coercion) inside(path string, v any, w *expectedTypes) any {
	switch v := v.(type) {
	case map[string]any:
		out := v
		for _, name := range slices.Sorted(maps.Keys(v)) {
			before := len(c.changed)
			e := c.value(path+"/"+escape(name), v[name], w.property(name))
			if len(c.changed) > before {
				if !w.copied {
					out, w.copied = maps.Clone(out), true
				}
				out[name] = e
			}
		}
		return out
	case []any:
		out := v
		for i := range v {
			before := len(c.changed)
			e := c.value(path+"/"+strconv.Itoa(i), v[i], w.item(i))
			if len(c.changed) > before {
				if !w.copied {
					out, w.copied = slices.Clone(out), true
				}
				out[i] = e
			}
		}
		return out
	}
	return v
}

// expectedTypes combines the schemas of one place.
type expectedTypes struct {
	audit   *audit
	types   map[string]bool
	objects []map[string]any // the schemas, with each $ref and alternative separate
	copied  bool             // the value was copied before a change inside it
}

// maxSchemas is the maximum number of schemas to consider for one place.
const maxSchemas = 64

// accepts reports whether a value of a type needs no coercion.
func (w *expectedTypes) accepts(t string) bool {
	return w.types[t] || t == "integer" && w.types["number"] || t == "number" && w.types["integer"]
}

// add adds a schema. typed reports whether it restricts the types.
func (w *expectedTypes) add(s any, depth int) (typed bool) {
	m, ok := s.(map[string]any)
	if !ok || len(w.objects) >= maxSchemas || depth > MaxDepth {
		return false
	}
	w.objects = append(w.objects, m)
	target, refers := m["$ref"].(string)
	if refers && w.audit.alone() {
		t, _ := w.audit.resolve(target)
		return w.add(t, depth+1)
	}
	typed = w.addTypes(m)
	if refers {
		t, _ := w.audit.resolve(target)
		typed = w.add(t, depth+1) || typed
	}
	all, _ := m["allOf"].([]any)
	for _, s := range all {
		typed = w.add(s, depth+1) || typed
	}
	for _, k := range []string{"anyOf", "oneOf"} {
		list, _ := m[k].([]any)
		every := len(list) > 0
		for _, s := range list {
			every = w.add(s, depth+1) && every
		}
		typed = every || typed
	}
	return typed
}

func (w *expectedTypes) addTypes(m map[string]any) bool {
	switch t := m["type"].(type) {
	case string:
		w.types[t] = true
		return true
	case []any:
		for _, e := range t {
			if name, ok := e.(string); ok {
				w.types[name] = true
			}
		}
		return true
	}
	values, ok := m["enum"].([]any)
	if v, isConst := m["const"]; isConst {
		values, ok = []any{v}, true
	}
	for _, v := range values {
		w.types[typeOf(v)] = true
	}
	return ok
}

// property returns the schemas of an object's property.
func (w *expectedTypes) property(name string) (out []any) {
	for _, m := range w.objects {
		props, _ := m["properties"].(map[string]any)
		if s, ok := props[name]; ok {
			out = append(out, s)
		} else if s, ok := m["additionalProperties"].(map[string]any); ok && m["patternProperties"] == nil {
			out = append(out, s)
		}
	}
	return out
}

// item returns the schemas of a list's element.
func (w *expectedTypes) item(i int) (out []any) {
	for _, m := range w.objects {
		prefix, _ := m["prefixItems"].([]any)
		rest := m["items"]
		if list, ok := rest.([]any); ok {
			prefix, rest = list, m["additionalItems"]
		}
		if i < len(prefix) {
			out = append(out, prefix[i])
		} else if s, ok := rest.(map[string]any); ok {
			out = append(out, s)
		}
	}
	return out
}

// convert converts v to one of the types if that is unambiguous.
func convert(v any, types map[string]bool) (any, bool) {
	switch v := v.(type) {
	case string:
		return convertText(strings.TrimSpace(v), types)
	case json.Number:
		return v.String(), types["string"]
	case bool:
		return strconv.FormatBool(v), types["string"]
	}
	return nil, false
}

func convertText(text string, types map[string]bool) (any, bool) {
	if types["boolean"] && (strings.EqualFold(text, "true") || strings.EqualFold(text, "false")) {
		return strings.EqualFold(text, "true"), true
	}
	if text == "" || len(text) > MaxSize {
		return nil, false
	}
	v, err := Decode([]byte(text))
	if err != nil {
		return nil, false
	}
	switch t := typeOf(v); t {
	case "object", "array", "number", "null":
		return v, types[t]
	case "integer":
		return v, types["integer"] || types["number"]
	}
	return nil, false
}

// typeOf returns the JSON Schema type of a value.
func typeOf(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case json.Number:
		if _, err := strconv.ParseInt(v.String(), 10, 64); err == nil {
			return "integer"
		}
		return "number"
	case int, int64:
		return "integer"
	case float64:
		return "number"
	case []any:
		return "array"
	}
	return "object"
}

func article(t string) string {
	if t == "integer" || t == "object" || t == "array" {
		return "an " + t
	}
	return "a " + t
}
