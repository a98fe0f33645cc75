package complete

import (
	"cmp"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/expr-lang/expr/types"

	"github.com/pexctl/pex/dsl/guard"
)

// Members returns what can follow a dotted path, sorted: the environment's names
// for an empty path, otherwise the fields of the value, if it has any.
func Members(e guard.Env, path ...string) []guard.Member {
	at := rootOf(e)
	for _, name := range path {
		at = at.field(name)
	}
	return at.members()
}

// typed is the type of a part of an expression: of an engine struct, of a JSON
// value, or of all names of an environment. The zero value is unknown.
type typed struct {
	native reflect.Type
	json   types.Type
	env    *guard.Env
	tools  []guard.Tool // tools whose calls the value describes; nil if unknown
	args   []argument   // arguments that it is a part of; nil if none
	member guard.Member // the field that it is
}

// argument is what a tool declares about an argument, or about all.
type argument struct {
	tool   string
	schema map[string]any
}

// rootOf returns the type whose fields are the names of an environment.
func rootOf(e guard.Env) typed { return typed{env: &e} }

// field returns the type of a field.
func (t typed) field(name string) typed {
	switch {
	case t.env != nil:
		return named(t.env, name)
	case t.args != nil:
		return t.argument(name)
	case t.native != nil:
		f := nativeField(t.native, name)
		if f.tools = t.tools; name == "args" {
			f.args = argumentsOf(t.tools)
		}
		return f
	}
	m, _ := t.json.(types.Map)
	of, ok := m[name]
	if !ok || name == types.Extra {
		return typed{}
	}
	return typed{json: of, member: guard.Member{Name: name, Type: kindName(of)}}
}

// named returns the type of one of the environment's names.
func named(e *guard.Env, name string) typed {
	if t, ok := e.Struct(name); ok {
		return typed{native: t, tools: e.Tools(), member: guard.Member{Name: name, Type: goName(t), Doc: guard.NameDocs[name]}}
	}
	if t, ok := e.Type(name); ok {
		return typed{json: t, member: guard.Member{Name: name, Type: kindName(t), Doc: guard.NameDocs[name]}}
	}
	return typed{}
}

// nativeField returns the type of a struct field or map entry of Go.
func nativeField(t reflect.Type, name string) typed {
	t = pointed(t)
	if t.Kind() == reflect.Map {
		return typed{native: t.Elem(), member: guard.Member{Name: name, Type: goName(t.Elem())}}
	}
	if t.Kind() == reflect.Struct {
		for f := range t.Fields() {
			if name != "" && name != "-" && f.Tag.Get("expr") == name {
				return typed{native: f.Type, member: memberOf(f)}
			}
		}
	}
	return typed{}
}

// memberOf describes a struct field by its tags.
func memberOf(f reflect.StructField) guard.Member {
	m := guard.Member{Name: f.Tag.Get("expr"), Type: goName(f.Type), Doc: f.Tag.Get("doc"), Of: f.Tag.Get("of")}
	if enum := f.Tag.Get("enum"); enum != "" {
		m.Words = strings.Split(enum, "|")
	}
	return m
}

// elem returns the type of a list's elements.
func (t typed) elem() typed {
	if t.args != nil {
		return t.inArgument("", func(schema map[string]any) any { return schema["items"] })
	}
	if t.native != nil && pointed(t.native).Kind() == reflect.Slice {
		of := pointed(t.native).Elem()
		return typed{native: of, tools: t.tools, member: guard.Member{Type: goName(of), Doc: "The current element."}}
	}
	if l, ok := t.json.(guard.ListOf); ok {
		return typed{json: l.Of, member: guard.Member{Type: kindName(l.Of), Doc: "The current element."}}
	}
	return typed{}
}

// members returns the fields, sorted.
func (t typed) members() (out []guard.Member) {
	var names []string
	switch {
	case t.env != nil:
		names = t.env.Names()
	case t.args != nil:
		for _, a := range t.args {
			properties, _ := a.schema["properties"].(map[string]any)
			names = append(names, slices.Collect(maps.Keys(properties))...)
		}
		slices.Sort(names)
		names = slices.Compact(names)
	case t.native != nil && pointed(t.native).Kind() == reflect.Struct:
		for f := range pointed(t.native).Fields() {
			names = append(names, f.Tag.Get("expr"))
		}
	case t.native == nil:
		m, _ := t.json.(types.Map)
		names = slices.Collect(maps.Keys(m))
	}
	for _, name := range names {
		if f := t.field(name); f.member.Name != "" {
			out = append(out, f.member)
		}
	}
	slices.SortFunc(out, func(a, b guard.Member) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

func pointed(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t
}

// kindName returns the name of a JSON value's type.
func kindName(t types.Type) string {
	if _, ok := t.(types.Map); ok {
		return "an object"
	}
	if _, ok := t.(guard.ListOf); ok {
		return "a list"
	}
	switch t {
	case types.String:
		return "a string"
	case types.Int:
		return "an integer"
	case types.Float64:
		return "a number"
	case types.Bool:
		return "a boolean"
	case types.Any:
		return "any value"
	}
	return "a list"
}

// goName returns the name of a field's type.
func goName(t reflect.Type) string {
	switch t = pointed(t); t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Int, reflect.Int64:
		return "an integer"
	case reflect.Float64:
		return "a number"
	case reflect.Bool:
		return "a boolean"
	case reflect.Slice:
		return "a list"
	case reflect.Interface:
		return "any value"
	default:
		return "an object"
	}
}
