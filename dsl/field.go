package dsl

import (
	"reflect"
	"strings"
	"time"

	"github.com/pexctl/pex/dsl/syntax"
	"github.com/pexctl/pex/engine/component"
)

// field is one key that a struct takes.
type field struct {
	key   string
	tag   reflect.StructTag
	value reflect.Value
	order int // across all targets, for the canonical order of keys
}

// fieldsOf lists the keys of structs that stand at one level; the first struct
// that has a key takes it. rest is the map for keys left over, if there is one.
func fieldsOf(targets []reflect.Value) (fields []field, rest reflect.Value) {
	seen := map[string]bool{}
	for _, t := range targets {
		for i := range t.NumField() {
			f := t.Type().Field(i)
			key, opts, _ := strings.Cut(f.Tag.Get("yaml"), ",")
			switch {
			case opts == "inline":
				rest = t.Field(i)
			case key == "" || key == "-" || !f.IsExported() || seen[key]:
			default:
				seen[key] = true
				fields = append(fields, field{key, f.Tag, t.Field(i), len(fields)})
			}
		}
	}
	return fields, rest
}

// keysOf lists the keys that structs take.
func keysOf(fields []field) []string {
	out := make([]string, len(fields))
	for i, f := range fields {
		out[i] = f.key
	}
	return out
}

// target is the struct that a pointer points to.
func target(p any) reflect.Value { return reflect.ValueOf(p).Elem() }

// The types that the decoder knows by name.
var (
	modelRefType  = reflect.TypeFor[component.ModelRef]()
	promptRefType = reflect.TypeFor[component.PromptRef]()
	templateType  = reflect.TypeFor[component.Template]()
	anyValueType  = reflect.TypeFor[component.Value]()
	schemaRefType = reflect.TypeFor[component.SchemaRef]()
	guardRefType  = reflect.TypeFor[component.GuardRef]()
	filterRefType = reflect.TypeFor[component.FilterRef]()
	agentRefType  = reflect.TypeFor[component.AgentRef]()
	durationType  = reflect.TypeFor[time.Duration]()
	valueType     = reflect.TypeFor[*syntax.Node]()
)

// modelField finds the ModelRef of a struct, which takes all llm keys beside it.
func modelField(fields []field) *field {
	for i := range fields {
		if fields[i].value.Type() == modelRefType {
			return &fields[i]
		}
	}
	return nil
}
