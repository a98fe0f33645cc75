package dsl

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/component"
)

// Schema is the JSON Schema (draft 2020-12) of files of every kind, for
// editors: made of the same structs that the decoder fills, so it knows every
// component of the catalogue and every kind of check. The same ones give the
// same bytes.
func Schema(catalog engine.Catalog, checks component.Blueprints) []byte {
	return (&schemer{catalog: catalog, checks: checks, defs: object()}).schema()
}

// schema is the whole of it, indented.
func (s *schemer) schema() []byte {
	root := object("$schema", word("https://json-schema.org/draft/2020-12/schema"), "title", word("A file of pexctl ("+apiVersion+")"), "type", word("object"))
	doc := defaultDocument()
	body := s.structs(reflect.ValueOf(&doc).Elem())
	s.sections(body.find("properties").val)
	root.entries = append(root.entries, s.byKind(s.agentFile(body)).entries...)
	root.set("$defs", place{}, s.defs)
	var b bytes.Buffer
	if err := json.Indent(&b, root.appendJSON(nil), "", "  "); err != nil {
		panic("a schema that is no JSON: " + err.Error())
	}
	b.WriteByte('\n')
	return b.Bytes()
}

// schemer builds the schema as a value, whose keys keep their order.
type schemer struct {
	catalog engine.Catalog
	checks  component.Blueprints
	defs    *value
	noting  bool // what a value means is written beside it, see NotedSchema
}

// object makes a mapping of alternating keys and values.
func object(pairs ...any) *value {
	v := &value{kind: dict}
	for i := 0; i < len(pairs); i += 2 {
		v.set(pairs[i].(string), place{}, pairs[i+1].(*value))
	}
	return v
}

func array(items ...*value) *value { return &value{kind: list, items: items} }

func word(s string) *value { return &value{kind: text, text: s} }

func texts(words ...string) *value {
	v := array()
	for _, w := range words {
		v.items = append(v.items, word(w))
	}
	return v
}

func flag(b bool) *value {
	if b {
		return &value{kind: boolean, text: "true"}
	}
	return &value{kind: boolean, text: "false"}
}

func number(s string) *value { return &value{kind: plainKind(s), text: s} }

func refTo(name string) *value { return object("$ref", word("#/$defs/"+name)) }

func closed(v *value) *value {
	v.set("unevaluatedProperties", place{}, flag(false))
	return v
}

// structs is the schema of structs at one level, closed by whoever uses it.
func (s *schemer) structs(targets ...reflect.Value) *value {
	fields, rest := fieldsOf(targets)
	properties, required := object(), array()
	for _, f := range fields {
		properties.set(f.key, place{}, s.field(f))
		if f.tag.Get("required") != "" {
			required.items = append(required.items, word(f.key))
		}
	}
	if modelField(fields) != nil {
		k := llm{}
		overrides, _ := fieldsOf([]reflect.Value{reflect.ValueOf(&k).Elem()})
		for _, f := range overrides {
			if properties.find(f.key) == nil {
				properties.set(f.key, place{}, orNull(s.field(f))) // provider, too: the llm that is named has one
			}
		}
	}
	out := object("type", texts("object", "null"), "properties", properties)
	if len(required.items) > 0 {
		out.set("type", place{}, word("object"))
		out.set("required", place{}, required)
	}
	out.set("additionalProperties", place{}, flag(rest.IsValid()))
	return out
}

func (s *schemer) field(f field) *value {
	v := s.of(f.value, f.tag)
	if doc := f.tag.Get("doc"); doc != "" {
		v.set("description", place{}, word(doc))
	}
	s.exemplify(v, f)
	if f.tag.Get("deprecated") != "" {
		v.set("deprecated", place{}, flag(true))
	}
	if d := defaultText(f.value); d != "" && f.tag.Get("required") == "" && len(d) < 80 {
		switch f.value.Kind() {
		case reflect.String, reflect.Struct:
			v.set("default", place{}, word(d))
		case reflect.Bool, reflect.Int, reflect.Float64:
			v.set("default", place{}, number(d))
		case reflect.Int64:
			v.set("default", place{}, word(d))
		default: // lists and mappings show none
		}
	}
	if f.tag.Get("required") == "" {
		v = orNull(v)
	}
	return markdown(v)
}

// orNull lets a schema take a null, too: a key that has none is as good as not
// written, see compiler.field.
func orNull(v *value) *value {
	switch t, enum, any := v.get("type"), v.get("enum"), v.get("anyOf"); {
	case t != nil && t.kind == text && t.text != "null":
		v.set("type", place{}, texts(t.text, "null"))
	case t != nil && t.kind == list && !slices.ContainsFunc(t.items, func(i *value) bool { return i.text == "null" }):
		t.items = append(t.items, word("null"))
	case enum != nil:
		enum.items = append(enum.items, &value{kind: null})
	case any != nil:
		any.items = append(any.items, typed("null"))
	}
	return v
}

// of is the schema of one type.
func (s *schemer) of(v reflect.Value, tag reflect.StructTag) *value {
	return s.note(s.ofType(v, tag), v, tag)
}

func (s *schemer) ofType(v reflect.Value, tag reflect.StructTag) *value {
	switch v.Type() {
	case promptRefType:
		return object("anyOf", array(typed("string"), pointerTo("file", "A file with the text."), pointerTo("use", "A name of prompts.")))
	case schemaRefType:
		return schemaOrPointer()
	case guardRefType:
		return typed("string", "boolean")
	case templateType:
		return typed("string", "number")
	case filterRefType, agentRefType, modelRefType:
		return typed("string")
	case durationType:
		return object("type", texts("string", "integer"), "pattern", word(`^-?([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+$|^0$`))
	case valueType, rawType, anyValueType:
		return object()
	}
	return s.ofKind(v, tag)
}

func (s *schemer) ofKind(v reflect.Value, tag reflect.StructTag) *value {
	switch v.Kind() {
	case reflect.Pointer:
		return s.of(fresh(v.Type().Elem()).Elem(), tag)
	case reflect.Struct:
		return s.structs(v)
	case reflect.Slice:
		out := object("type", word("array"), "items", s.of(reflect.New(v.Type().Elem()).Elem(), withoutBounds(tag)))
		return bounded(out, tag, "minItems", "maxItems")
	case reflect.Map:
		return object("type", word("object"), "additionalProperties", s.of(reflect.New(v.Type().Elem()).Elem(), tag))
	case reflect.String:
		if enum := tag.Get("enum"); enum != "" {
			return object("enum", enumerated(enum))
		}
		return typed("string", "number")
	case reflect.Bool:
		return typed("boolean")
	case reflect.Float64, reflect.Float32:
		return bounded(typed("number"), tag, "minimum", "maximum")
	case reflect.Interface:
		return object()
	default:
		return bounded(typed("integer"), tag, "minimum", "maximum")
	}
}

// enumerated are the words of an enum; one that YAML takes for a number is
// that, too.
func enumerated(enum string) *value {
	out := array()
	for w := range strings.SplitSeq(enum, "|") {
		if out.items = append(out.items, word(w)); plainKind(w) == integer {
			out.items = append(out.items, number(w))
		}
	}
	return out
}

func typed(types ...string) *value {
	if len(types) == 1 {
		return object("type", word(types[0]))
	}
	return object("type", texts(types...))
}

func bounded(v *value, tag reflect.StructTag, least, most string) *value {
	if n := tag.Get("min"); n != "" {
		v.set(least, place{}, number(n))
	}
	if n := tag.Get("over"); n != "" {
		v.set("exclusiveMinimum", place{}, number(n))
	}
	if n := tag.Get("max"); n != "" {
		v.set(most, place{}, number(n))
	}
	return v
}

func pointerTo(key, doc string) *value {
	return object("type", word("object"), "properties", object(key, object("type", word("string"), "description", word(doc))),
		"required", texts(key), "additionalProperties", flag(false))
}
