package prompt

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/pexctl/pex/engine/jsonvalue"
)

// segments returns the segments of a value that is prompt text: a []string, or a
// type derived from it.
func segments(v any) ([]string, bool) {
	switch v := v.(type) {
	case []string:
		return v, true
	case nil, string, bool, map[string]any, []any:
		return nil, false
	}
	t := reflect.TypeOf(v)
	if t.Kind() != reflect.Slice || t.Elem() != reflect.TypeFor[string]() {
		return nil, false
	}
	return reflect.ValueOf(v).Convert(reflect.TypeFor[[]string]()).Interface().([]string), true
}

// rendered returns a value in the form for prompts: a string as is, anything else
// as compact JSON with sorted keys.
func rendered(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case bool:
		return strconv.FormatBool(v)
	case int:
		return strconv.Itoa(v)
	case json.Number:
		return v.String()
	}
	if s, ok := segments(v); ok {
		return strings.Join(s, "")
	}
	return encode(v)
}

// encode returns a value as JSON. Prompt text in segments becomes one JSON
// string.
func encode(v any) string {
	if s, ok := segments(v); ok {
		v = strings.Join(s, "")
	}
	b, err := jsonvalue.Marshal(v)
	if err != nil {
		return fmt.Sprint(v) // not a JSON value, such as NaN: show something
	}
	return string(b)
}
