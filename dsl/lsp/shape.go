package lsp

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// shape is a part of the language's schema, its keys in the order written.
type shape struct {
	keys  []string
	under map[string]*shape
	items []*shape
	word  string // of a text, and of every other scalar as JSON has it
	text  bool
}

// decodeShape reads a schema.
func decodeShape(b []byte) (*shape, error) {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	return decodeNext(d)
}

// decodeNext reads the next value; nil = null.
func decodeNext(d *json.Decoder) (*shape, error) {
	t, err := d.Token()
	if err != nil {
		return nil, err
	}
	s := &shape{}
	switch t := t.(type) {
	case json.Delim:
		if t == '{' {
			s.under = map[string]*shape{}
		}
		for d.More() {
			if t == '{' {
				key, err := d.Token()
				if err != nil {
					return nil, err
				}
				s.keys = append(s.keys, key.(string))
			}
			below, err := decodeNext(d)
			if err != nil {
				return nil, err
			}
			switch {
			case t == '{':
				s.under[s.keys[len(s.keys)-1]] = below
			case below != nil: // null is no word to offer
				s.items = append(s.items, below)
			}
		}
		_, err = d.Token()
		return s, err
	case string:
		s.word, s.text = t, true
	case json.Number:
		s.word = t.String()
	case bool:
		s.word = map[bool]string{true: "true", false: "false"}[t]
	default:
		return nil, nil
	}
	return s, nil
}

// at goes down by keys; nil where one is missing.
func (s *shape) at(keys ...string) *shape {
	for _, key := range keys {
		if s == nil {
			return nil
		}
		s = s.under[key]
	}
	return s
}

// says is the text of a key, or "".
func (s *shape) says(key string) string {
	if x := s.at(key); x != nil {
		return x.word
	}
	return ""
}

// types lists the word or words of the key type.
func (s *shape) types() []string {
	t := s.at("type")
	switch {
	case t == nil:
		return nil
	case t.text:
		return []string{t.word}
	}
	out := make([]string, len(t.items))
	for i, it := range t.items {
		out[i] = it.word
	}
	return out
}

// language is the schema of all files.
type language struct{ root *shape }

// maxShapes bounds how much of the schema is looked at for one place.
const maxShapes = 200

// of lists the parts of the schema that hold for a node: those of its parent's
// that are about its key, with what they refer to and what holds by its value.
func (l *language) of(n *node) []*shape {
	var out []*shape
	if n.parent == nil {
		return l.expand(l.root, n, out, 0)
	}
	for _, s := range l.of(n.parent) {
		if below := s.below(n); below != nil {
			out = l.expand(below, n, out, 0)
		}
	}
	return out
}

// below is the schema of a key or an item.
func (s *shape) below(n *node) *shape {
	if n.parent.kind == sequence {
		return s.at("items")
	}
	if p := s.at("properties", n.key); p != nil {
		return p
	}
	if extra := s.at("additionalProperties"); extra != nil && extra.under != nil {
		return extra
	}
	return nil
}

// expand adds a schema and what belongs to it.
func (l *language) expand(s *shape, n *node, out []*shape, depth int) []*shape {
	if s == nil || s.under == nil || depth > maxDepth || len(out) > maxShapes || slices.Contains(out, s) {
		return out
	}
	out = append(out, s)
	if ref := s.says("$ref"); ref != "" {
		out = l.expand(l.resolve(ref), n, out, depth+1)
	}
	for _, key := range []string{"allOf", "anyOf", "oneOf"} {
		if all := s.at(key); all != nil {
			for _, part := range all.items {
				if key == "allOf" || part.positive() {
					out = l.expand(part, n, out, depth+1)
				}
			}
		}
	}
	if condition := s.at("if"); condition != nil {
		branch := "else"
		if l.holds(condition, n, 0) {
			branch = "then"
		}
		out = l.expand(s.at(branch), n, out, depth+1)
	}
	return out
}

// positive says whether an alternative says what a value may be, not only which keys
// it must have.
func (s *shape) positive() bool {
	return s.at("properties") != nil || s.at("$ref") != nil || s.at("enum") != nil || s.at("type") != nil
}

// resolve finds what a reference such as #/$defs/llm names.
func (l *language) resolve(ref string) *shape {
	path, ok := strings.CutPrefix(ref, "#/")
	if !ok {
		return nil
	}
	return l.root.at(strings.Split(path, "/")...)
}

// holds says whether a node fits a condition, as far as conditions go here.
func (l *language) holds(s *shape, n *node, depth int) bool {
	if s == nil || depth > maxDepth {
		return true
	}
	if r := s.at("required"); r != nil {
		for _, key := range r.items {
			if n.get(key.word) == nil {
				return false
			}
		}
	}
	if p := s.at("properties"); p != nil {
		for _, key := range p.keys {
			if v := n.get(key); v != nil && !l.holds(p.under[key], v, depth+1) {
				return false
			}
		}
	}
	if c := s.at("const"); c != nil && c.word != n.string() {
		return false
	}
	if t := s.types(); t != nil && !slices.ContainsFunc(t, n.is) {
		return false
	}
	if not := s.at("not"); not != nil && l.holds(not, n, depth+1) {
		return false
	}
	if any := s.at("anyOf"); any != nil {
		return slices.ContainsFunc(any.items, func(a *shape) bool { return l.holds(a, n, depth+1) })
	}
	return true
}

// is says whether a node is of a type of JSON, as far as its form tells.
func (n *node) is(typ string) bool {
	switch typ {
	case "object":
		return n.kind == mapping
	case "array":
		return n.kind == sequence
	case "null":
		return n.empty()
	case "boolean":
		return n.kind == scalar && (n.text == "true" || n.text == "false")
	}
	return n.kind == scalar && !n.empty()
}

// key is one key that a mapping may have.
type keyShape struct {
	name     string
	shape    *shape
	required bool
}

// keys lists what a mapping may have, in the order of the language.
func (l *language) keys(n *node) []keyShape {
	var out []keyShape
	seen := map[string]int{}
	required := map[string]bool{}
	for _, s := range l.of(n) {
		if r := s.at("required"); r != nil {
			for _, it := range r.items {
				required[it.word] = true
			}
		}
		p := s.at("properties")
		if p == nil {
			continue
		}
		for _, key := range p.keys {
			switch i, ok := seen[key]; {
			case p.under[key].under == nil: // true or false: it says nothing of the key
			case !ok:
				seen[key] = len(out)
				out = append(out, keyShape{name: key, shape: p.under[key]})
			case out[i].shape.says("description") == "" && p.under[key].says("description") != "":
				out[i].shape = p.under[key]
			}
		}
	}
	for i := range out {
		out[i].required = required[out[i].name]
	}
	return out
}

// doc is the first description that holds for a node.
func doc(shapes []*shape) string {
	for _, s := range shapes {
		if d := s.says("description"); d != "" {
			return d
		}
	}
	return ""
}

// note is what the texts of a node mean: "prompt", "expression", "llm", ...
func note(shapes []*shape) *shape {
	for _, s := range shapes {
		if n := s.at("x-pex"); n != nil {
			return n
		}
	}
	return nil
}
