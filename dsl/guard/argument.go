package guard

import (
	"maps"
	"slices"
	"strings"
)

// Callee is a tool as expressions about its calls are checked.
type Callee struct {
	Name   string
	Effect string // "" = not known
	Input  any    // JSON Schema of its arguments, decoded
	// Fixed are arguments that the spec fixes: a call always has them.
	Fixed []string
	// Texts says that the arguments are text only because no schema was written.
	Texts bool
	// Server says that it stands for the tools of the server Name, which are not
	// known: nothing is pinned of it.
	Server bool
}

// origin is the argument that a range is of.
type origin struct {
	tool *Callee
	name string // of the argument, or of a field in it; "" = all arguments
}

// bounds are the ranges of the names that a call of the tool gives.
func (c *Callee) bounds() Range {
	fields := map[string]Range{"name": Words(c.Name), "args": c.args()}
	if c.Effect != "" {
		fields["effect"] = Words(c.Effect)
	}
	return Range{kinds: isObject, fields: fields, open: true}
}

// args are the arguments that the schema declares, each with its origin.
func (c *Callee) args() Range {
	if c.Server {
		return Range{kinds: isObject, open: true, origin: &origin{c, ""}}
	}
	schema := flattened(c.Input, c.Input, 0)
	m, ok := schema.(map[string]any)
	if !ok {
		return Anything()
	}
	m = maps.Clone(m)
	m["type"] = "object"
	if len(c.Fixed) > 0 {
		m["properties"], m["required"] = c.withFixed(m)
	}
	r := Fits(m)
	for _, name := range c.Fixed {
		if f, ok := r.fields[name]; ok && f.kinds != isNil {
			f.kinds &^= isNil
			r.fields[name] = f
		}
	}
	return c.marked(r, "")
}

// withFixed are the properties and required names of a schema with the fixed
// arguments among them.
func (c *Callee) withFixed(m map[string]any) (properties map[string]any, required []any) {
	declared, _ := m["properties"].(map[string]any)
	if properties = maps.Clone(declared); properties == nil {
		properties = map[string]any{}
	}
	names, _ := m["required"].([]any)
	required = slices.Clone(names)
	for _, name := range c.Fixed {
		if properties[name] == nil && len(declared) > 0 {
			properties[name] = true
		}
		required = append(required, name)
	}
	return properties, required
}

// marked is a range whose parts know which argument they are.
func (c *Callee) marked(r Range, name string) Range {
	r.origin = &origin{c, name}
	if r.fields != nil {
		fields := make(map[string]Range, len(r.fields))
		for n, f := range r.fields {
			fields[n] = c.marked(f, n)
		}
		r.fields = fields
	}
	if r.elem != nil {
		elem := c.marked(*r.elem, name)
		r.elem = &elem
	}
	if r.rest != nil {
		rest := c.marked(*r.rest, name)
		r.rest = &rest
	}
	return r
}

// Arguments are the names of the arguments of the tool, sorted.
func (c *Callee) Arguments() []string { return slices.Sorted(maps.Keys(c.args().fields)) }

// Lacks says that the tool declares its arguments, and none of a name.
func (c *Callee) Lacks(name string) bool {
	r := c.args()
	_, ok := r.fields[name]
	return r.named && !ok
}

// maxRefs bounds how deep the references of a schema are followed.
const maxRefs = 12

// flattened is a schema without references within itself, and with the parts of
// allOf put together. What is too deep or cannot be found is any value.
func flattened(schema, root any, depth int) any {
	s, ok := schema.(map[string]any)
	if !ok {
		return schema
	}
	if depth > maxRefs {
		return true
	}
	out := maps.Clone(s)
	if ref, ok := s["$ref"].(string); ok {
		delete(out, "$ref")
		target, _ := flattened(atPointer(root, ref), root, depth+1).(map[string]any)
		if target == nil {
			return true
		}
		out = mergedSchemas(target, out)
	}
	for _, key := range []string{"properties", "patternProperties"} {
		if props, ok := out[key].(map[string]any); ok {
			flat := make(map[string]any, len(props))
			for name, p := range props {
				flat[name] = flattened(p, root, depth+1)
			}
			out[key] = flat
		}
	}
	for _, key := range []string{"items", "additionalProperties"} {
		if out[key] != nil {
			out[key] = flattened(out[key], root, depth+1)
		}
	}
	for _, key := range []string{"anyOf", "oneOf"} {
		if list, ok := out[key].([]any); ok {
			flat := make([]any, len(list))
			for i := range list {
				flat[i] = flattened(list[i], root, depth+1)
			}
			out[key] = flat
		}
	}
	all, _ := out["allOf"].([]any)
	delete(out, "allOf")
	for _, part := range all {
		if m, ok := flattened(part, root, depth+1).(map[string]any); ok {
			out = mergedSchemas(out, m)
		}
	}
	return out
}

// atPointer is what a reference within a schema leads to; nil = nothing.
func atPointer(root any, ref string) any {
	rest, ok := strings.CutPrefix(ref, "#")
	if !ok {
		return nil
	}
	at := root
	for part := range strings.SplitSeq(strings.TrimPrefix(rest, "/"), "/") {
		if part == "" {
			continue
		}
		m, ok := at.(map[string]any)
		if !ok {
			return nil
		}
		at = m[strings.NewReplacer("~1", "/", "~0", "~").Replace(part)]
	}
	return at
}

// mergedSchemas is a schema that says what two say, as far as Fits looks.
func mergedSchemas(a, b map[string]any) map[string]any {
	out := maps.Clone(a)
	for key, v := range b {
		was, both := out[key]
		switch {
		case !both:
			out[key] = v
		case key == "properties":
			l, _ := was.(map[string]any)
			r, _ := v.(map[string]any)
			props := maps.Clone(l)
			maps.Copy(props, r)
			out[key] = props
		case key == "required":
			l, _ := was.([]any)
			r, _ := v.([]any)
			out[key] = slices.Concat(l, r)
		}
	}
	return out
}
