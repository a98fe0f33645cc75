package prompt

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/pexctl/pex/engine/jsonvalue"
)

// segments gives a value that is prompt text in segments: []string, or a type
// made of it.
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

// rendered is how a value reads in a prompt: a string as it is, anything else as
// compact JSON with sorted keys.
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

// encode is a value as JSON. Prompt text in segments is one JSON string.
func encode(v any) string {
	if s, ok := segments(v); ok {
		v = strings.Join(s, "")
	}
	b, err := jsonvalue.Marshal(v)
	if err != nil {
		return fmt.Sprint(v) // no JSON value, such as NaN: show it rather than nothing
	}
	return string(b)
}
