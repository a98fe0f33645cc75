package tool

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/pexctl/pex/engine/tool"
)

// toolInfo returns the Info of a tool. The author's name and description take precedence.
func toolInfo(s tool.Settings, typ, description, input string, effect tool.Effect) tool.Info {
	return tool.Info{
		Name:        cmp.Or(s.Name, typ),
		Description: cmp.Or(s.Description, description),
		Input:       json.RawMessage(input),
		Effect:      effect,
	}
}

// arguments decodes a call's arguments into the struct A. Names must match its json tags
// exactly.
func arguments[A any](ctx context.Context, call *tool.Call) (A, error) {
	var a A
	if err := ctx.Err(); err != nil {
		return a, tool.Definite(err)
	}
	args, err := tool.Arguments(call.Args, names(reflect.TypeFor[A]())...)
	if err != nil {
		return a, err
	}
	exact, err := json.Marshal(args)
	if err != nil {
		return a, err
	}
	var wrong *json.UnmarshalTypeError
	if err := json.Unmarshal(exact, &a); errors.As(err, &wrong) {
		return a, fmt.Errorf("argument %q must be %s, not %s", wrong.Field, kind(wrong.Type), wrong.Value)
	}
	return a, err
}

// isObject returns an error if raw is not a JSON object. Empty input counts as an empty
// object.
func isObject(raw json.RawMessage) error {
	var args map[string]json.RawMessage
	if len(raw) > 0 && (json.Unmarshal(raw, &args) != nil || args == nil) {
		return errors.New("the arguments are not a JSON object")
	}
	return nil
}

func names(t reflect.Type) []string {
	out := make([]string, t.NumField())
	for i := range out {
		out[i], _, _ = strings.Cut(t.Field(i).Tag.Get("json"), ",")
	}
	return out
}

// kind returns the JSON type that a Go type decodes from.
func kind(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Int:
		return "a whole number"
	case reflect.Slice:
		return "a list"
	default:
		return "an object"
	}
}

// within checks a number passed by the model. Zero means the default.
func within(name string, n, standard, most int) (int, error) {
	switch {
	case n == 0:
		return min(standard, most), nil
	case n < 0:
		return 0, fmt.Errorf("argument %q must be positive, not %d", name, n)
	}
	return min(n, most), nil
}

// size formats a number of bytes.
func size(n int64) string {
	switch {
	case n < 10_000:
		return fmt.Sprintf("%d bytes", n)
	case n < 10_000_000:
		return fmt.Sprintf("%.1f kB", float64(n)/1e3)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/1e6)
}
