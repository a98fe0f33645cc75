package acceptance

import (
	"bytes"
	"encoding/json"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// look follows a dotted path in decoded JSON. List indexes may be negative, counting from the end.
func look(doc any, path string) (any, bool) {
	for part := range strings.SplitSeq(path, ".") {
		switch x := doc.(type) {
		case map[string]any:
			v, ok := x[part]
			if !ok {
				return nil, false
			}
			doc = v
		case []any:
			i, err := strconv.Atoi(part)
			if err != nil || i < -len(x) || i >= len(x) {
				return nil, false
			}
			if i < 0 {
				i += len(x)
			}
			doc = x[i]
		default:
			return nil, false
		}
	}
	return doc, true
}

// holds reports whether a value matches the expected one: a literal, or an object with one key that is a matcher.
func holds(got any, found bool, want any) bool {
	op, arg, isMatcher := matcher(want)
	if !found {
		return isMatcher && op == "empty" && arg == true
	}
	if !isMatcher {
		return reflect.DeepEqual(got, want)
	}
	switch op {
	case "has":
		s, ok := arg.(string)
		return ok && strings.Contains(text(got), s)
	case "lacks":
		s, ok := arg.(string)
		return ok && !strings.Contains(text(got), s)
	case "len":
		return float64(length(got)) == arg
	case "min", "max":
		g, gok := got.(float64)
		w, wok := arg.(float64)
		return gok && wok && (op == "min" && g >= w || op == "max" && g <= w)
	case "any":
		list, _ := arg.([]any)
		return slices.ContainsFunc(list, func(v any) bool { return reflect.DeepEqual(got, v) })
	case "re":
		s, _ := arg.(string)
		re, err := regexp.Compile(s)
		return err == nil && re.MatchString(text(got))
	case "type":
		return kind(got) == arg
	default: // empty
		return (got == nil || length(got) == 0) == (arg == true)
	}
}

func matcher(want any) (op string, arg any, ok bool) {
	m, isMap := want.(map[string]any)
	if !isMap || len(m) != 1 {
		return "", nil, false
	}
	for op, arg = range m {
		ok = slices.Contains([]string{"has", "lacks", "len", "min", "max", "any", "re", "type", "empty"}, op)
	}
	return op, arg, ok
}

// text returns a string unchanged, and other values as JSON.
func text(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err.Error()
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// length returns the length of a value, or -1 if it has none.
func length(v any) int {
	switch x := v.(type) {
	case string:
		return utf8.RuneCountInString(x)
	case []any:
		return len(x)
	case map[string]any:
		return len(x)
	}
	return -1
}

func kind(v any) any {
	switch v.(type) {
	case string:
		return "string"
	case float64:
		return "number"
	case map[string]any:
		return "object"
	case []any:
		return "array"
	case nil:
		return "null"
	}
	return "boolean"
}
