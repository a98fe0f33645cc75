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

// about is what a tool says of itself, under the name and in the words of its
// author where there are any.
func about(s tool.Settings, typ, description, input string, effect tool.Effect) tool.Info {
	return tool.Info{
		Name:        cmp.Or(s.Name, typ),
		Description: cmp.Or(s.Description, description),
		Input:       json.RawMessage(input),
		Effect:      effect,
	}
}

// arguments reads a call's arguments into the struct A, by the exact names of
// its json tags.
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

// isObject refuses arguments that are no JSON object; none at all is an empty one.
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

// kind is a type in the words of JSON.
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

// within bounds a number that a model passed; zero means the default.
func within(name string, n, standard, most int) (int, error) {
	switch {
	case n == 0:
		return min(standard, most), nil
	case n < 0:
		return 0, fmt.Errorf("argument %q must be positive, not %d", name, n)
	}
	return min(n, most), nil
}

// size is a number of bytes for people and models.
func size(n int64) string {
	switch {
	case n < 10_000:
		return fmt.Sprintf("%d bytes", n)
	case n < 10_000_000:
		return fmt.Sprintf("%.1f kB", float64(n)/1e3)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/1e6)
}
