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

// Env is the names an expression may use, and their types. The zero value has
// none. It is immutable.
type Env struct {
	declared types.Map
	structs  map[string]reflect.Type // names whose values are structs
	strict   bool                    // the arguments of calls are given (see given)
	tools    []Tool                  // see WithTools
}

// Names lists the environment's names, sorted.
func (e Env) Names() []string { return slices.Sorted(maps.Keys(e.declared)) }

// Type is the type of a name; ok is false where the environment does not have it.
func (e Env) Type(name string) (t types.Type, ok bool) {
	t, ok = e.declared[name]
	return t, ok && name != types.Extra
}

// Struct is the type of a name whose values are structs of the engine.
func (e Env) Struct(name string) (t reflect.Type, ok bool) {
	t, ok = e.structs[name]
	return t, ok
}

// Strict says that arguments of calls come from a model: what is missing fails.
func (e Env) Strict() bool { return e.strict }

// with is the environment and one more name.
func (e Env) with(name string, t types.Type) Env {
	e.declared = maps.Clone(e.declared)
	if e.declared == nil {
		e.declared = types.Map{}
	}
	e.declared[name] = t
	return e
}

// withStruct is the environment and one more name whose values have the type
// Of v.
func (e Env) withStruct(name string, v any) Env {
	e = e.with(name, types.TypeOf(v))
	e.structs = maps.Clone(e.structs)
	if e.structs == nil {
		e.structs = map[string]reflect.Type{}
	}
	e.structs[name] = reflect.TypeOf(v)
	return e
}

// option gives the library the environment. Structs are put in by hand: only
// then does it know the fields of each of them.
func (e Env) option(c *conf.Config) {
	c.WithEnv(e.declared)
	for name, t := range e.structs {
		c.Env.Fields[name] = c.NtCache.FromType(t)
	}
}

// With is the environment and one more name whose values satisfy a JSON Schema.
// A nil schema is any value.
func (e Env) With(name string, schema any) Env {
	return e.with(name, TypeOf(schema))
}

// words are the types of a declaration.
var words = map[string]types.Type{
	"string": types.String, "int": types.Int, "integer": types.Int, "float": types.Float64, "number": types.Float64,
	"bool": types.Bool, "boolean": types.Bool, "any": types.Any, "list": types.Array(types.Any), "object": types.Map{types.Extra: types.Any},
	"[]string": types.Array(types.String),
}

// Declared makes an environment from a component's declaration, such as
// "call int, step string". The types are string, int, number, bool, any, list,
// []string and object.
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

// TypeOf is the type of the values that satisfy a JSON Schema, any where the
// schema leaves it open.
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

// ListOf is the type of a list whose elements have a known type.
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
