package config

import (
	"reflect"
	"strings"
)

// Key is one key that a Config takes: its dotted path, what it takes in a few
// words of Markdown, its default ("" = none), and what it is for.
type Key struct {
	Key      string `json:"key"`
	Value    string `json:"value"`
	Default  string `json:"default,omitempty"`
	Required bool   `json:"required,omitempty"`
	Doc      string `json:"doc"`
}

// Keys lists the keys of a Config, given as a pointer to its defaults, those of
// structs in it too, in the order of its fields.
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

// addKeysBelow lists the keys of a struct behind a pointer or in a list, too.
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

// IsReference says that the decoder knows a type by name.
func IsReference(t reflect.Type) bool {
	switch t {
	case PromptRefType, SchemaRefType, GuardRefType, TemplateType, FilterRefType, AgentRefType, ModelRefType, DurationType, ValueType, RawType, AnyValueType:
		return true
	}
	return false
}

// kindOf says in a few words what a key takes.
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
