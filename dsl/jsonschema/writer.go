package jsonschema

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	"github.com/pexctl/pex/dsl/config"
	"github.com/pexctl/pex/dsl/language"
	"github.com/pexctl/pex/dsl/syntax"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/component"
)

// New returns the JSON Schema (draft 2020-12) of files of every kind, for
// editors. It is built from the structs that the decoder fills, so it has every
// component of the catalog and every kind of check. The output is deterministic.
func New(catalog engine.Catalog, checks component.Blueprints) []byte {
	return (&writer{catalog: catalog, checks: checks, defs: syntax.NewMap()}).schema()
}

// schema returns the complete schema, indented.
func (s *writer) schema() []byte {
	root := syntax.NewMap("$schema", syntax.NewText("https://json-schema.org/draft/2020-12/schema"), "title", syntax.NewText("File of pexctl ("+language.Version+")"), "type", syntax.NewText("object"))
	doc := language.DefaultSpec()
	body := s.structs(reflect.ValueOf(&doc).Elem())
	s.sections(body.Find("properties").Value)
	root.Entries = append(root.Entries, s.byKind(s.agentFile(body)).Entries...)
	root.Set("$defs", syntax.Position{}, s.defs)
	var b bytes.Buffer
	if err := json.Indent(&b, root.AppendJSON(nil), "", "  "); err != nil {
		panic("the schema is not JSON: " + err.Error())
	}
	b.WriteByte('\n')
	return b.Bytes()
}

// writer builds the schema as a value with ordered keys.
type writer struct {
	catalog   engine.Catalog
	checks    component.Blueprints
	defs      *syntax.Node
	withNotes bool // add notes about the meaning of values, see NewTracked
}

func flag(b bool) *syntax.Node {
	if b {
		return &syntax.Node{Kind: syntax.Bool, Text: "true"}
	}
	return &syntax.Node{Kind: syntax.Bool, Text: "false"}
}

func number(s string) *syntax.Node { return &syntax.Node{Kind: syntax.PlainKind(s), Text: s} }

func refTo(name string) *syntax.Node { return syntax.NewMap("$ref", syntax.NewText("#/$defs/"+name)) }

func closed(v *syntax.Node) *syntax.Node {
	v.Set("unevaluatedProperties", syntax.Position{}, flag(false))
	return v
}

// structs returns the schema of structs that share one level. The caller closes
// it.
func (s *writer) structs(targets ...reflect.Value) *syntax.Node {
	fields, rest := config.Fields(targets)
	properties, required := syntax.NewMap(), syntax.NewList()
	for _, f := range fields {
		properties.Set(f.Key, syntax.Position{}, s.field(f))
		if f.Tag.Get("required") != "" {
			required.Items = append(required.Items, syntax.NewText(f.Key))
		}
	}
	if config.ModelField(fields) != nil {
		k := language.LLM{}
		overrides, _ := config.Fields([]reflect.Value{reflect.ValueOf(&k).Elem()})
		for _, f := range overrides {
			if properties.Find(f.Key) == nil {
				properties.Set(f.Key, syntax.Position{}, orNull(s.field(f))) // provider too: the named LLM has one
			}
		}
	}
	out := syntax.NewMap("type", syntax.NewTexts("object", "null"), "properties", properties)
	if len(required.Items) > 0 {
		out.Set("type", syntax.Position{}, syntax.NewText("object"))
		out.Set("required", syntax.Position{}, required)
	}
	out.Set("additionalProperties", syntax.Position{}, flag(rest.IsValid()))
	return out
}

func (s *writer) field(f config.Field) *syntax.Node {
	v := s.of(f.Value, f.Tag)
	if doc := f.Tag.Get("doc"); doc != "" {
		v.Set("description", syntax.Position{}, syntax.NewText(doc))
	}
	s.exemplify(v, f)
	if f.Tag.Get("deprecated") != "" {
		v.Set("deprecated", syntax.Position{}, flag(true))
	}
	if d := config.DefaultText(f.Value); d != "" && f.Tag.Get("required") == "" && len(d) < 80 {
		switch f.Value.Kind() {
		case reflect.String, reflect.Struct:
			v.Set("default", syntax.Position{}, syntax.NewText(d))
		case reflect.Bool, reflect.Int, reflect.Float64:
			v.Set("default", syntax.Position{}, number(d))
		case reflect.Int64:
			v.Set("default", syntax.Position{}, syntax.NewText(d))
		default: // not shown for lists and mappings
		}
	}
	if f.Tag.Get("required") == "" {
		v = orNull(v)
	}
	return markdown(v)
}

// orNull extends a schema to accept null: a key with null counts as not written,
// see Decoder.field.
func orNull(v *syntax.Node) *syntax.Node {
	switch t, enum, any := v.Get("type"), v.Get("enum"), v.Get("anyOf"); {
	case t != nil && t.Kind == syntax.Text && t.Text != "null":
		v.Set("type", syntax.Position{}, syntax.NewTexts(t.Text, "null"))
	case t != nil && t.Kind == syntax.List && !slices.ContainsFunc(t.Items, func(i *syntax.Node) bool { return i.Text == "null" }):
		t.Items = append(t.Items, syntax.NewText("null"))
	case enum != nil:
		enum.Items = append(enum.Items, &syntax.Node{Kind: syntax.Null})
	case any != nil:
		any.Items = append(any.Items, typed("null"))
	}
	return v
}

// of returns the schema of one type.
func (s *writer) of(v reflect.Value, tag reflect.StructTag) *syntax.Node {
	return s.note(s.ofType(v, tag), v, tag)
}

func (s *writer) ofType(v reflect.Value, tag reflect.StructTag) *syntax.Node {
	switch v.Type() {
	case config.PromptRefType:
		return syntax.NewMap("anyOf", syntax.NewList(typed("string"), pointerTo("file", "A file with the text."), pointerTo("use", "The name of a prompt.")))
	case config.SchemaRefType:
		return schemaOrPointer()
	case config.GuardRefType:
		return typed("string", "boolean")
	case config.TemplateType:
		return typed("string", "number")
	case config.FilterRefType, config.AgentRefType, config.ModelRefType:
		return typed("string")
	case config.DurationType:
		return syntax.NewMap("type", syntax.NewTexts("string", "integer"), "pattern", syntax.NewText(`^-?([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+$|^0$`))
	case config.SizeType:
		return syntax.NewMap("type", syntax.NewText("string"), "pattern", syntax.NewText(config.SizePattern))
	case config.ValueType, config.RawType, config.AnyValueType:
		return syntax.NewMap()
	}
	return s.ofKind(v, tag)
}

func (s *writer) ofKind(v reflect.Value, tag reflect.StructTag) *syntax.Node {
	switch v.Kind() {
	case reflect.Pointer:
		return s.of(config.New(v.Type().Elem()).Elem(), tag)
	case reflect.Struct:
		return s.structs(v)
	case reflect.Slice:
		out := syntax.NewMap("type", syntax.NewText("array"), "items", s.of(reflect.New(v.Type().Elem()).Elem(), config.WithoutBounds(tag)))
		return bounded(out, tag, "minItems", "maxItems")
	case reflect.Map:
		return syntax.NewMap("type", syntax.NewText("object"), "additionalProperties", s.of(reflect.New(v.Type().Elem()).Elem(), tag))
	case reflect.String:
		if enum := tag.Get("enum"); enum != "" {
			return syntax.NewMap("enum", enumerated(enum))
		}
		return typed("string", "number")
	case reflect.Bool:
		return typed("boolean")
	case reflect.Float64, reflect.Float32:
		return bounded(typed("number"), tag, "minimum", "maximum")
	case reflect.Interface:
		return syntax.NewMap()
	default:
		return bounded(typed("integer"), tag, "minimum", "maximum")
	}
}

// enumerated returns the words of an enum. Words that YAML reads as numbers are
// also allowed as numbers.
func enumerated(enum string) *syntax.Node {
	out := syntax.NewList()
	for w := range strings.SplitSeq(enum, "|") {
		if out.Items = append(out.Items, syntax.NewText(w)); syntax.PlainKind(w) == syntax.Int {
			out.Items = append(out.Items, number(w))
		}
	}
	return out
}

func typed(types ...string) *syntax.Node {
	if len(types) == 1 {
		return syntax.NewMap("type", syntax.NewText(types[0]))
	}
	return syntax.NewMap("type", syntax.NewTexts(types...))
}

func bounded(v *syntax.Node, tag reflect.StructTag, least, most string) *syntax.Node {
	if n := tag.Get("min"); n != "" {
		v.Set(least, syntax.Position{}, number(n))
	}
	if n := tag.Get("over"); n != "" {
		v.Set("exclusiveMinimum", syntax.Position{}, number(n))
	}
	if n := tag.Get("max"); n != "" {
		v.Set(most, syntax.Position{}, number(n))
	}
	return v
}

func pointerTo(key, doc string) *syntax.Node {
	return syntax.NewMap("type", syntax.NewText("object"), "properties", syntax.NewMap(key, syntax.NewMap("type", syntax.NewText("string"), "description", syntax.NewText(doc))),
		"required", syntax.NewTexts(key), "additionalProperties", flag(false))
}
