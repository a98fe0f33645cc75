package config

import (
	"reflect"
	"strings"
	"time"

	"github.com/pexctl/pex/dsl/syntax"
	"github.com/pexctl/pex/engine/component"
)

// Field is one key of a struct.
type Field struct {
	Key   string
	Tag   reflect.StructTag
	Value reflect.Value
	order int // across all targets, for the canonical order of keys
}

// Fields returns the keys of structs that share one level. If several structs
// have a key, the first one gets it. rest is the map for unknown keys, if there
// is one.
func Fields(targets []reflect.Value) (fields []Field, rest reflect.Value) {
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
				fields = append(fields, Field{key, f.Tag, t.Field(i), len(fields)})
			}
		}
	}
	return fields, rest
}

// FieldKeys returns the keys of fields.
func FieldKeys(fields []Field) []string {
	out := make([]string, len(fields))
	for i, f := range fields {
		out[i] = f.Key
	}
	return out
}

// Struct returns the struct that p points to.
func Struct(p any) reflect.Value { return reflect.ValueOf(p).Elem() }

// Types that the decoder handles by name.
var (
	ModelRefType  = reflect.TypeFor[component.ModelRef]()
	PromptRefType = reflect.TypeFor[component.PromptRef]()
	TemplateType  = reflect.TypeFor[component.Template]()
	AnyValueType  = reflect.TypeFor[component.Value]()
	SchemaRefType = reflect.TypeFor[component.SchemaRef]()
	GuardRefType  = reflect.TypeFor[component.GuardRef]()
	FilterRefType = reflect.TypeFor[component.FilterRef]()
	AgentRefType  = reflect.TypeFor[component.AgentRef]()
	DurationType  = reflect.TypeFor[time.Duration]()
	ValueType     = reflect.TypeFor[*syntax.Node]()
)

// ModelField returns the ModelRef of a struct, which takes all LLM keys beside
// it.
func ModelField(fields []Field) *Field {
	for i := range fields {
		if fields[i].Value.Type() == ModelRefType {
			return &fields[i]
		}
	}
	return nil
}

// Optional is a section that is off unless it is written, and then has defaults.
type Optional interface{ SetDefaults() }

// New returns a pointer to a new value of a type, with its defaults.
func New(t reflect.Type) reflect.Value {
	p := reflect.New(t)
	if o, ok := reflect.TypeAssert[Optional](p); ok {
		o.SetDefaults()
	}
	return p
}

// KeysOf returns the keys of a struct, given a value of its type.
func KeysOf(s any) []string {
	p := reflect.New(reflect.TypeOf(s))
	fields, _ := Fields([]reflect.Value{p.Elem()})
	return FieldKeys(fields)
}
