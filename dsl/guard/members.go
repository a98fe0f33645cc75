package guard

import (
	"cmp"
	"maps"
	"reflect"
	"slices"

	"github.com/expr-lang/expr/types"
)

// Member is a name that an expression may write at a place.
type Member struct {
	Name string
	Type string // for people: a whole number, a list, ...
}

// Members lists what may stand behind a dotted path: the environment's own names
// for none, the fields of a value for its path; nothing where it has none. They
// are sorted.
func (e Env) Members(path ...string) []Member {
	if len(path) == 0 {
		return membersOf(e.declared, e.structs)
	}
	if t, ok := e.structs[path[0]]; ok {
		return fieldsBelow(t, path[1:])
	}
	t := e.declared[path[0]]
	for _, name := range path[1:] {
		m, ok := t.(types.Map)
		if !ok {
			return nil
		}
		t = m[name]
	}
	m, _ := t.(types.Map)
	return membersOf(m, nil)
}

func membersOf(m types.Map, structs map[string]reflect.Type) []Member {
	var out []Member
	for _, name := range slices.Sorted(maps.Keys(m)) {
		if name == types.Extra {
			continue
		}
		kind := kindName(m[name])
		if t, ok := structs[name]; ok {
			kind = goName(t)
		}
		out = append(out, Member{name, kind})
	}
	return out
}

// kindName names the type of a JSON value.
func kindName(t types.Type) string {
	if _, ok := t.(types.Map); ok {
		return "an object"
	}
	switch t {
	case types.String:
		return "text"
	case types.Int:
		return "a whole number"
	case types.Float64:
		return "a number"
	case types.Bool:
		return "true or false"
	case types.Any:
		return "any value"
	}
	return "a list"
}

// fieldsBelow lists the fields of a struct, or of what a path leads to in it.
func fieldsBelow(t reflect.Type, path []string) []Member {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() == reflect.Map && len(path) > 0 {
		return fieldsBelow(t.Elem(), path[1:])
	}
	if t.Kind() != reflect.Struct {
		return nil
	}
	var out []Member
	for f := range t.Fields() {
		name := f.Tag.Get("expr")
		switch {
		case name == "" || name == "-":
		case len(path) > 0 && path[0] == name:
			return fieldsBelow(f.Type, path[1:])
		default:
			out = append(out, Member{name, goName(f.Type)})
		}
	}
	if len(path) > 0 {
		return nil
	}
	slices.SortFunc(out, func(a, b Member) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

// goName names the type of a field.
func goName(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "text"
	case reflect.Int, reflect.Int64:
		return "a whole number"
	case reflect.Float64:
		return "a number"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice:
		return "a list"
	case reflect.Interface:
		return "any value"
	case reflect.Pointer:
		return goName(t.Elem())
	default:
		return "an object"
	}
}
