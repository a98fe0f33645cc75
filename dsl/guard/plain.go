package guard

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/pexctl/pex/engine"
)

// jsonInside are the engine's names whose structs hold JSON values.
var jsonInside = map[string]bool{"plan": true, "step": true, "tool": true, "trace": true}

// plain gives a value with its JSON numbers as int or float64. It copies only
// what changes.
func plain(v any) (out any, changed bool) {
	switch v := v.(type) {
	case json.Number:
		return number(v), true
	case []any:
		return plainList(v)
	case map[string]any:
		return plainObject(v)
	case engine.StepEnv:
		if o, changed := plain(v.Output); changed {
			v.Output = o
			return v, true
		}
	case engine.ToolEnv:
		args, changed := plainObject(v.Args)
		result, also := plain(v.Result)
		if changed || also {
			v.Args, v.Result = args, result
			return v, true
		}
	case engine.PlanEnv:
		steps, a := plainSteps(v.Steps)
		completed, b := plainSteps(v.Completed)
		if a || b { // what remains has no output yet
			v.Steps, v.Completed = steps, completed
			return v, true
		}
	case engine.TraceEnv:
		steps, a := plainSteps(v.Steps)
		calls, b := plainCalls(v.Calls)
		if a || b {
			v.Steps, v.Calls = steps, calls
			return v, true
		}
	}
	return v, false
}

func plainList(v []any) ([]any, bool) {
	copied := false
	for i := range v {
		if e, changed := plain(v[i]); changed {
			if !copied {
				v, copied = slices.Clone(v), true
			}
			v[i] = e
		}
	}
	return v, copied
}

func plainObject(v map[string]any) (map[string]any, bool) {
	out := v
	copied := false
	for k, e := range v {
		if e, changed := plain(e); changed {
			if !copied {
				out, copied = maps.Clone(v), true
			}
			out[k] = e
		}
	}
	return out, copied
}

func plainSteps(v []engine.StepEnv) ([]engine.StepEnv, bool) {
	copied := false
	for i := range v {
		if o, changed := plain(v[i].Output); changed {
			if !copied {
				v, copied = slices.Clone(v), true
			}
			v[i].Output = o
		}
	}
	return v, copied
}

func plainCalls(v []engine.CallEnv) ([]engine.CallEnv, bool) {
	copied := false
	for i := range v {
		args, a := plainObject(v[i].Args)
		result, b := plain(v[i].Result)
		if !a && !b {
			continue
		}
		if !copied {
			v, copied = slices.Clone(v), true
		}
		v[i].Args, v[i].Result = args, result
	}
	return v, copied
}

func number(n json.Number) any {
	if i, err := strconv.Atoi(n.String()); err == nil {
		return i
	}
	f, err := n.Float64()
	if err != nil {
		return n.String()
	}
	return f
}

// kindOf names the type of a value in the language's words.
func kindOf(v any) string {
	switch v.(type) {
	case nil:
		return "nil"
	case string:
		return "a string"
	case int, float64:
		return "a number"
	case []any:
		return "a list"
	case map[string]any:
		return "an object"
	}
	return typeNames.Replace(fmt.Sprintf("%T", v))
}

// typeName names a type in the language's words.
func typeName(t reflect.Type) string {
	if t.Kind() == reflect.Interface {
		return "nil"
	}
	return typeNames.Replace(t.String())
}

func isNilFetch(message string) bool {
	return strings.HasPrefix(message, "cannot fetch ") && strings.HasSuffix(message, "from <nil>")
}
