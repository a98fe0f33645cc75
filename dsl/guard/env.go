package guard

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/expr-lang/expr/conf"
	"github.com/expr-lang/expr/types"
)

// Env is the set of names that an expression may use, with their types. The zero
// value has none. It is immutable.
type Env struct {
	declared types.Map
	structs  map[string]reflect.Type // names whose values are structs
	strict   bool                    // arguments of calls are strict (see strict.go)
	tools    []Tool                  // see WithTools
}

// Names returns the environment's names, sorted.
func (e Env) Names() []string { return slices.Sorted(maps.Keys(e.declared)) }

// Type returns the type of a name. ok is false if the environment does not have
// it.
func (e Env) Type(name string) (t types.Type, ok bool) {
	t, ok = e.declared[name]
	return t, ok && name != types.Extra
}

// Struct returns the type of a name whose values are engine structs.
func (e Env) Struct(name string) (t reflect.Type, ok bool) {
	t, ok = e.structs[name]
	return t, ok
}

// Strict reports whether arguments of calls come from a model: then a missing
// argument is an error.
func (e Env) Strict() bool { return e.strict }

// with returns the environment with another name.
func (e Env) with(name string, t types.Type) Env {
	e.declared = maps.Clone(e.declared)
	if e.declared == nil {
		e.declared = types.Map{}
	}
	e.declared[name] = t
	return e
}

// withStruct returns the environment with another name whose values have the type
// of v.
func (e Env) withStruct(name string, v any) Env {
	e = e.with(name, types.TypeOf(v))
	e.structs = maps.Clone(e.structs)
	if e.structs == nil {
		e.structs = map[string]reflect.Type{}
	}
	e.structs[name] = reflect.TypeOf(v)
	return e
}

// option configures the library with the environment. It adds structs by hand,
// because only then does the library know their fields.
func (e Env) option(c *conf.Config) {
	c.WithEnv(e.declared)
	for name, t := range e.structs {
		c.Env.Fields[name] = c.NtCache.FromType(t)
	}
}

// With returns the environment with another name whose values match a JSON
// Schema. A nil schema allows any value.
func (e Env) With(name string, schema any) Env {
	return e.with(name, TypeOf(schema))
}

// words maps the type names of declarations.
var words = map[string]types.Type{
	"string": types.String, "int": types.Int, "integer": types.Int, "float": types.Float64, "number": types.Float64,
	"bool": types.Bool, "boolean": types.Bool, "any": types.Any, "list": types.Array(types.Any), "object": types.Map{types.Extra: types.Any},
	"[]string": types.Array(types.String),
}

// Declared parses a component's declaration, such as "call int, step string". The
// types are string, int, number, bool, any, list, []string and object.
func Declared(declaration string) (Env, error) {
	var e Env
	for part := range strings.SplitSeq(declaration, ",") {
		fields := strings.Fields(part)
		if len(fields) != 2 {
			return Env{}, fmt.Errorf("declaration %q: expected a name and a type", strings.TrimSpace(part))
		}
		t, ok := words[fields[1]]
		if !ok {
			return Env{}, fmt.Errorf("declaration %q: unknown type %s", strings.TrimSpace(part), fields[1])
		}
		e = e.with(fields[0], t)
	}
	return e, nil
}

// TypeOf returns the type of the values that match a JSON Schema, or any if the
// schema does not restrict it.
func TypeOf(schema any) types.Type {
	s, ok := schema.(map[string]any)
	if !ok {
		return types.Any
	}
	switch s["type"] {
	case "string":
		return types.String
	case "integer":
		return types.Int
	case "number":
		return types.Float64
	case "boolean":
		return types.Bool
	case "array":
		of := TypeOf(s["items"])
		return ListOf{types.Array(of), of}
	case "object":
		return objectType(s)
	}
	return types.Any
}

// ListOf is the type of a list with a known element type.
type ListOf struct {
	types.Type
	Of types.Type
}

func objectType(s map[string]any) types.Type {
	m := types.Map{types.Extra: types.Any}
	if extra, ok := s["additionalProperties"]; ok {
		if extra == false && s["patternProperties"] == nil {
			delete(m, types.Extra)
		} else {
			m[types.Extra] = TypeOf(extra)
		}
	}
	if s["patternProperties"] != nil {
		m[types.Extra] = types.Any
	}
	props, _ := s["properties"].(map[string]any)
	for name, p := range props {
		m[name] = TypeOf(p)
	}
	return m
}
