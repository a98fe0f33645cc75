package guard

import "reflect"

// typeName names a type of Go in the language's words.
func typeName(t reflect.Type) string {
	if t.Kind() == reflect.Interface {
		return "nil"
	}
	return typeNames.Replace(t.String())
}

// kindWord is a type of Go as a kind of value, with its article.
func kindWord(t string) string {
	switch t {
	case "nil":
		return t
	case "int", "float64":
		return "a number"
	case "string":
		return "text"
	case "bool":
		return "true or false"
	case "[]interface {}", "[]any":
		return "a list"
	case "map[string]interface {}", "map[string]any":
		return "an object"
	}
	return typeNames.Replace(t)
}

// kindWords is kindWord for the values of a list.
func kindWords(t string) string {
	switch t {
	case "int", "float64":
		return "numbers"
	case "string":
		return "texts"
	case "bool":
		return "truths"
	}
	return "values of another type"
}
