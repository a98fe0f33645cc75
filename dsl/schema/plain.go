package schema

import (
	"encoding/json"
	"slices"
	"strings"
)

// plain is a schema of the commonest keywords: types, properties, items and an enum of
// strings. It accepts values quickly, in the same way in all drafts, and cannot say why it
// does not. Most arguments of tools are valid, and the library allocates ten objects for
// each value that it checks.
type plain struct {
	types      []string // empty = all
	properties map[string]*plain
	required   []string
	closed     bool // no other properties
	items      *plain
	enum       []string // nil = all values
}

// plainOf returns nil if a schema has a keyword that plain does not know.
func plainOf(doc any) *plain {
	m, ok := doc.(map[string]any)
	if !ok {
		return nil
	}
	p := &plain{}
	for key, v := range m {
		if !p.add(key, v) {
			return nil
		}
	}
	return p
}

// add adds a keyword. ok is false if plain does not know it, or not in this form.
func (p *plain) add(key string, v any) (ok bool) {
	switch key {
	case "$schema", "$comment", "title", "description", "default", "examples":
		return true
	case "type":
		if name, one := v.(string); one {
			v = []any{name}
		}
		p.types, ok = stringList(v)
		return ok && !slices.Contains(p.types, "any")
	case "required":
		p.required, ok = stringList(v)
	case "enum":
		p.enum, ok = stringList(v)
	case "additionalProperties":
		var open bool
		open, ok = v.(bool)
		p.closed = !open
	case "items":
		p.items = plainOf(v)
		ok = p.items != nil
	case "properties":
		var m map[string]any
		m, ok = v.(map[string]any)
		p.properties = make(map[string]*plain, len(m))
		for name, s := range m {
			p.properties[name] = plainOf(s)
			ok = ok && p.properties[name] != nil
		}
	}
	return ok
}

func stringList(v any) (out []string, ok bool) {
	list, ok := v.([]any)
	out = make([]string, 0, len(list))
	for _, e := range list {
		s, isText := e.(string)
		out, ok = append(out, s), ok && isText
	}
	return out, ok
}

// accepts reports whether a value is certainly valid. A nil plain accepts nothing.
func (p *plain) accepts(v any) bool {
	switch {
	case p == nil, len(p.types) > 0 && !slices.ContainsFunc(p.types, func(t string) bool { return isPlainly(v, t) }):
		return false
	case p.enum != nil:
		if s, ok := v.(string); !ok || !slices.Contains(p.enum, s) {
			return false
		}
	}
	switch v := v.(type) {
	case map[string]any:
		return p.acceptsObject(v)
	case []any:
		return p.items == nil || !slices.ContainsFunc(v, func(e any) bool { return !p.items.accepts(e) })
	}
	return true
}

func (p *plain) acceptsObject(m map[string]any) bool {
	for _, name := range p.required {
		if _, ok := m[name]; !ok {
			return false
		}
	}
	for name, v := range m {
		if s, ok := p.properties[name]; ok && !s.accepts(v) || !ok && p.closed {
			return false
		}
	}
	return true
}

// isPlainly reports whether a value certainly has a type. Whether 1.0 is an integer
// depends on the draft.
func isPlainly(v any, name string) bool {
	switch v := v.(type) {
	case nil:
		return name == "null"
	case bool:
		return name == "boolean"
	case string:
		return name == "string"
	case json.Number:
		return name == "number" || name == "integer" && !strings.ContainsAny(v.String(), ".eE")
	case int, int64:
		return name == "number" || name == "integer"
	case float64:
		return name == "number"
	case []any:
		return name == "array"
	case map[string]any:
		return name == "object"
	}
	return false
}
