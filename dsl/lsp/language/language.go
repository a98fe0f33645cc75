package language

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/pexctl/pex/dsl/lsp/outline"
)

// Schema is a part of the language's schema, with its keys in source order.
type Schema struct {
	Keys   []string
	Fields map[string]*Schema
	Items  []*Schema
	Value  string // the text of a string, and of any other scalar its JSON
	isText bool
}

// Decode parses a schema.
func Decode(b []byte) (*Schema, error) {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	return decodeNext(d)
}

// decodeNext parses the next value; it returns nil for null.
func decodeNext(d *json.Decoder) (*Schema, error) {
	t, err := d.Token()
	if err != nil {
		return nil, err
	}
	s := &Schema{}
	switch t := t.(type) {
	case json.Delim:
		if t == '{' {
			s.Fields = map[string]*Schema{}
		}
		for d.More() {
			if t == '{' {
				key, err := d.Token()
				if err != nil {
					return nil, err
				}
				s.Keys = append(s.Keys, key.(string))
			}
			below, err := decodeNext(d)
			if err != nil {
				return nil, err
			}
			switch {
			case t == '{':
				s.Fields[s.Keys[len(s.Keys)-1]] = below
			case below != nil: // null is not offered
				s.Items = append(s.Items, below)
			}
		}
		_, err = d.Token()
		return s, err
	case string:
		s.Value, s.isText = t, true
	case json.Number:
		s.Value = t.String()
	case bool:
		s.Value = map[bool]string{true: "true", false: "false"}[t]
	default:
		return nil, nil
	}
	return s, nil
}

// At returns the schema at a path of keys, or nil if one is missing.
func (s *Schema) At(keys ...string) *Schema {
	for _, key := range keys {
		if s == nil {
			return nil
		}
		s = s.Fields[key]
	}
	return s
}

// Text returns the text of a key, or "".
func (s *Schema) Text(key string) string {
	if x := s.At(key); x != nil {
		return x.Value
	}
	return ""
}

// Types returns the words of the key type.
func (s *Schema) Types() []string {
	t := s.At("type")
	switch {
	case t == nil:
		return nil
	case t.isText:
		return []string{t.Value}
	}
	out := make([]string, len(t.Items))
	for i, it := range t.Items {
		out[i] = it.Value
	}
	return out
}

// Language is the schema of all files.
type Language struct{ Root *Schema }

// maxShapes is the maximum number of schema parts to consider for one place.
const maxShapes = 200

// Of returns the parts of the schema that apply to a node: those of its parent
// for its key, with the parts that they refer to and the conditional parts that
// match its value.
func (l *Language) Of(n *outline.Node) []*Schema {
	var out []*Schema
	if n.Parent == nil {
		return l.Expand(l.Root, n, out, 0)
	}
	for _, s := range l.Of(n.Parent) {
		if below := s.below(n); below != nil {
			out = l.Expand(below, n, out, 0)
		}
	}
	return out
}

// below returns the schema of a key or an item.
func (s *Schema) below(n *outline.Node) *Schema {
	if n.Parent.Kind == outline.Sequence {
		return s.At("items")
	}
	if p := s.At("properties", n.Key); p != nil {
		return p
	}
	if extra := s.At("additionalProperties"); extra != nil && extra.Fields != nil {
		return extra
	}
	return nil
}

// Expand adds a schema and the parts that belong to it.
func (l *Language) Expand(s *Schema, n *outline.Node, out []*Schema, depth int) []*Schema {
	if s == nil || s.Fields == nil || depth > outline.MaxDepth || len(out) > maxShapes || slices.Contains(out, s) {
		return out
	}
	out = append(out, s)
	if ref := s.Text("$ref"); ref != "" {
		out = l.Expand(l.resolve(ref), n, out, depth+1)
	}
	for _, key := range []string{"allOf", "anyOf", "oneOf"} {
		if all := s.At(key); all != nil {
			for _, part := range all.Items {
				if key == "allOf" || part.positive() {
					out = l.Expand(part, n, out, depth+1)
				}
			}
		}
	}
	if condition := s.At("if"); condition != nil {
		branch := "else"
		if l.holds(condition, n, 0) {
			branch = "then"
		}
		out = l.Expand(s.At(branch), n, out, depth+1)
	}
	return out
}

// positive reports whether an alternative describes a value, and not only
// required keys.
func (s *Schema) positive() bool {
	return s.At("properties") != nil || s.At("$ref") != nil || s.At("enum") != nil || s.At("type") != nil
}

// resolve returns the target of a reference such as #/$defs/llm.
func (l *Language) resolve(ref string) *Schema {
	path, ok := strings.CutPrefix(ref, "#/")
	if !ok {
		return nil
	}
	return l.Root.At(strings.Split(path, "/")...)
}

// holds reports whether a node matches a condition, as far as conditions are
// supported.
func (l *Language) holds(s *Schema, n *outline.Node, depth int) bool {
	if s == nil || depth > outline.MaxDepth {
		return true
	}
	if r := s.At("required"); r != nil {
		for _, key := range r.Items {
			if n.Get(key.Value) == nil {
				return false
			}
		}
	}
	if p := s.At("properties"); p != nil {
		for _, key := range p.Keys {
			if v := n.Get(key); v != nil && !l.holds(p.Fields[key], v, depth+1) {
				return false
			}
		}
	}
	if c := s.At("const"); c != nil && c.Value != n.String() {
		return false
	}
	if t := s.Types(); t != nil && !slices.ContainsFunc(t, n.Is) {
		return false
	}
	if not := s.At("not"); not != nil && l.holds(not, n, depth+1) {
		return false
	}
	if any := s.At("anyOf"); any != nil {
		return slices.ContainsFunc(any.Items, func(a *Schema) bool { return l.holds(a, n, depth+1) })
	}
	return true
}

// Key is one key that a mapping may have.
type Key struct {
	Name     string
	Shape    *Schema
	Required bool
}

// Keys returns the keys of a mapping, in the order of the language.
func (l *Language) Keys(n *outline.Node) []Key {
	var out []Key
	seen := map[string]int{}
	required := map[string]bool{}
	for _, s := range l.Of(n) {
		if r := s.At("required"); r != nil {
			for _, it := range r.Items {
				required[it.Value] = true
			}
		}
		p := s.At("properties")
		if p == nil {
			continue
		}
		for _, key := range p.Keys {
			switch i, ok := seen[key]; {
			case p.Fields[key].Fields == nil: // true or false, without a description of the key
			case !ok:
				seen[key] = len(out)
				out = append(out, Key{Name: key, Shape: p.Fields[key]})
			case out[i].Shape.Text("description") == "" && p.Fields[key].Text("description") != "":
				out[i].Shape = p.Fields[key]
			}
		}
	}
	for i := range out {
		out[i].Required = required[out[i].Name]
	}
	return out
}

// Description returns the first description that applies to a node.
func Description(shapes []*Schema) string {
	for _, s := range shapes {
		if d := s.Text("description"); d != "" {
			return d
		}
	}
	return ""
}

// Meaning returns what the text of a node means: "prompt", "expression", "llm",
// ...
func Meaning(shapes []*Schema) *Schema {
	for _, s := range shapes {
		if n := s.At("x-pex"); n != nil {
			return n
		}
	}
	return nil
}

// Each visits a tree with the parts of the schema that apply to each node.
func (l *Language) Each(root *outline.Node, visit func(*outline.Node, []*Schema)) {
	var down func(n *outline.Node, shapes []*Schema)
	down = func(n *outline.Node, shapes []*Schema) {
		visit(n, shapes)
		for _, k := range n.Children {
			var below []*Schema
			for _, s := range shapes {
				if b := s.below(k); b != nil {
					below = l.Expand(b, k, below, 0)
				}
			}
			down(k, below)
		}
	}
	down(root, l.Expand(l.Root, root, nil, 0))
}
