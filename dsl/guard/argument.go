package guard

import (
	"maps"
	"slices"
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
	schema := flattened(c.Input)
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

// WithTools is the environment of expressions about the calls of tools: At and
// Members then know their arguments, those of tools that a text in the expression
// names before others.
func (e Env) WithTools(tools []Callee) Env {
	e.tools = make([]toolSchema, len(tools))
	for i, t := range tools {
		e.tools[i] = toolSchema{t.Name, t.Input}
	}
	return e
}
