package guard

// kindWord converts a Go type to a kind, with its article.
func kindWord(t string) string {
	switch t {
	case "nil":
		return t
	case "int", "float64":
		return "a number"
	case "string":
		return "a string"
	case "bool":
		return "a boolean"
	case "[]interface {}", "[]any":
		return "a list"
	case "map[string]interface {}", "map[string]any":
		return "an object"
	}
	return typeNames.Replace(t)
}

// kindWords is like kindWord, for the elements of a list.
func kindWords(t string) string {
	switch t {
	case "int", "float64":
		return "numbers"
	case "string":
		return "strings"
	case "bool":
		return "booleans"
	}
	return "values of another type"
}
