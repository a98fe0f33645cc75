package interval

import (
	"maps"
	"slices"

	"github.com/pexctl/pex/dsl/guard"
)

// origin is the argument that a range describes.
type origin struct {
	tool *guard.Tool
	name string // of the argument, or of a field in it; "" for all arguments
}

// callBounds returns the ranges of the names in a call of the tool.
func callBounds(c *guard.Tool) Range {
	fields := map[string]Range{"name": Words(c.Name), "args": argumentsRange(c)}
	if c.Effect != "" {
		fields["effect"] = Words(c.Effect)
	}
	return Range{kinds: isObject, fields: fields, open: true}
}

// argumentsRange returns the range of the arguments that the schema declares,
// each with its origin.
func argumentsRange(c *guard.Tool) Range {
	if c.Server {
		return Range{kinds: isObject, open: true, origin: &origin{c, ""}}
	}
	schema := guard.FlattenSchema(c.Input)
	m, ok := schema.(map[string]any)
	if !ok {
		return Anything()
	}
	m = maps.Clone(m)
	m["type"] = "object"
	if len(c.Fixed) > 0 {
		m["properties"], m["required"] = withFixed(c, m)
	}
	r := OfSchema(m)
	for _, name := range c.Fixed {
		if f, ok := r.fields[name]; ok && f.kinds != isNil {
			f.kinds &^= isNil
			r.fields[name] = f
		}
	}
	return withOrigin(c, r, "")
}

// withFixed returns the properties and required names of a schema, including the
// fixed arguments.
func withFixed(c *guard.Tool, m map[string]any) (properties map[string]any, required []any) {
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

// withOrigin returns a range whose parts have the argument as their origin.
func withOrigin(c *guard.Tool, r Range, name string) Range {
	r.origin = &origin{c, name}
	if r.fields != nil {
		fields := make(map[string]Range, len(r.fields))
		for n, f := range r.fields {
			fields[n] = withOrigin(c, f, n)
		}
		r.fields = fields
	}
	if r.elem != nil {
		elem := withOrigin(c, *r.elem, name)
		r.elem = &elem
	}
	if r.rest != nil {
		rest := withOrigin(c, *r.rest, name)
		r.rest = &rest
	}
	return r
}

// Arguments returns the names of the tool's arguments, sorted.
func Arguments(c *guard.Tool) []string { return slices.Sorted(maps.Keys(argumentsRange(c).fields)) }

// Lacks reports whether the tool declares its arguments without one of this name.
func Lacks(c *guard.Tool, name string) bool {
	r := argumentsRange(c)
	_, ok := r.fields[name]
	return r.named && !ok
}
