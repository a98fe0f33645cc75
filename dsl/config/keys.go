package config

import (
	"reflect"
	"strings"
)

// Key is one key of a Config: its dotted path, a short description of its type in
// Markdown, its default ("" if none), and its documentation.
type Key struct {
	Key      string `json:"key"`
	Value    string `json:"value"`
	Default  string `json:"default,omitempty"`
	Required bool   `json:"required,omitempty"`
	Doc      string `json:"doc"`
}

// Keys returns the keys of a Config, given a pointer to its defaults, including
// those of nested structs, in the order of its fields.
func Keys(config any) []Key { return addKeys(nil, "", Struct(config)) }

func addKeys(keys []Key, path string, v reflect.Value) []Key {
	fields, _ := Fields([]reflect.Value{v})
	for _, f := range fields {
		k := Key{Key: Join(path, f.Key), Value: kindOf(f), Required: f.Tag.Get("required") != "", Doc: f.Tag.Get("doc")}
		if !k.Required {
			k.Default = DefaultText(f.Value)
		}
		keys = addKeysBelow(append(keys, k), k.Key, f.Value)
	}
	return keys
}

// addKeysBelow also handles the keys of a struct behind a pointer or in a list.
func addKeysBelow(keys []Key, path string, v reflect.Value) []Key {
	t := v.Type()
	switch {
	case IsReference(t):
		return keys
	case t.Kind() == reflect.Struct:
		return addKeys(keys, path, v)
	case t.Kind() == reflect.Pointer:
		return addKeysBelow(keys, path, New(t.Elem()).Elem())
	case t.Kind() == reflect.Slice:
		return addKeysBelow(keys, path+"[]", reflect.New(t.Elem()).Elem())
	}
	return keys
}

// IsReference reports whether the decoder handles a type by name.
func IsReference(t reflect.Type) bool {
	switch t {
	case PromptRefType, SchemaRefType, GuardRefType, TemplateType, FilterRefType, AgentRefType, ModelRefType, DurationType, SizeType, ValueType, RawType, AnyValueType:
		return true
	}
	return false
}

// kindOf returns a short description of the type of a key.
func kindOf(f Field) string {
	if enum := f.Tag.Get("enum"); enum != "" {
		return "`" + strings.ReplaceAll(enum, "|", "`, `") + "`"
	}
	if takes := f.Tag.Get("takes"); takes != "" {
		return takes
	}
	if words := f.Tag.Get("words"); words != "" {
		return "`" + strings.ReplaceAll(words, "|", "`, `") + "` or an expression"
	}
	return typeWord(f.Value.Type())
}

func typeWord(t reflect.Type) string {
	switch t {
	case PromptRefType:
		return "prompt"
	case SchemaRefType:
		return "JSON Schema"
	case GuardRefType:
		return "expression"
	case TemplateType:
		return "template"
	case FilterRefType:
		return "JSONPath"
	case AgentRefType:
		return "path of a spec"
	case ModelRefType:
		return "name of an LLM"
	case DurationType:
		return "duration"
	case SizeType:
		return "size"
	case AnyValueType:
		return "any value; strings are templates"
	}
	switch t.Kind() {
	case reflect.Pointer:
		return typeWord(t.Elem())
	case reflect.Slice:
		return "list of " + typeWord(t.Elem())
	case reflect.Struct, reflect.Map:
		return "mapping"
	case reflect.String:
		return "string"
	case reflect.Bool:
		return "`true`, `false`"
	case reflect.Interface:
		return "any value"
	case reflect.Float64:
		return "number"
	default:
		return "integer"
	}
}
