package guard

import (
	"encoding/json"
	"math/big"
	"reflect"
	"sync"

	"github.com/pexctl/pex/dsl/guard/exact"
)

// strictValue is a value from the arguments of a tool call; nil if the call has no such
// argument or it is null. Only arguments are strict: an operation on a value of
// the wrong kind fails instead of returning false. What a model omits or
// misspells must not decide a condition that protects something.
//
// Only a comparison with nil, ??, ?. and "name" in object accept a missing value.
type strictValue struct{ value any }

// unwrap unwraps a value and reports whether it is strict.
func unwrap(v any) (raw any, strict bool) {
	if g, ok := v.(strictValue); ok {
		return g.value, true
	}
	return v, false
}

// wrapStrict wraps a value if it is strict.
func wrapStrict(v any, strict bool) any {
	if _, ok := v.(strictValue); ok || !strict {
		return v
	}
	return strictValue{v}
}

// plainValue returns a value for callers: unwrapped, with Go numbers.
func plainValue(v any) any {
	v, _ = unwrap(v)
	switch v := v.(type) {
	case *big.Rat:
		f, _ := v.Float64()
		return f
	case json.Number:
		if q, ok := exact.Of(v); ok {
			return plainValue(q)
		}
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = plainValue(v[i])
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for k := range v {
			out[k] = plainValue(v[k])
		}
		return out
	}
	return v
}

// kind is the kind of a value in the language.
type kind int

const (
	kindNil kind = iota
	kindBool
	kindNumber
	kindText
	kindList
	kindObject
	kindOther
)

// kindNames are the names of the kinds.
var kindNames = map[kind]string{
	kindNil: "nil", kindBool: "a boolean", kindNumber: "a number", kindText: "a string", kindList: "a list", kindObject: "an object", kindOther: "a value",
}

// kindOf returns the kind of an unwrapped value. A nil list or object of the
// engine is empty, not nil.
func kindOf(v any) kind {
	switch v.(type) {
	case nil:
		return kindNil
	case bool:
		return kindBool
	case json.Number, int, int64, float64, *big.Rat:
		return kindNumber
	case string:
		return kindText
	case []any:
		return kindList
	case map[string]any:
		return kindObject
	}
	switch reflect.TypeOf(v).Kind() {
	case reflect.Slice:
		return kindList
	case reflect.Map, reflect.Struct:
		return kindObject
	default:
		return kindOther
	}
}

// isMissing reports whether a value is missing, or a nil list or object of the
// engine.
func isMissing(v any) bool {
	v, _ = unwrap(v)
	if v == nil {
		return true
	}
	r := reflect.ValueOf(v)
	return (r.Kind() == reflect.Slice || r.Kind() == reflect.Map) && r.IsNil()
}

// lengthOfValue returns the number of elements of a list or an object.
func lengthOfValue(v any) int {
	switch v := v.(type) {
	case nil:
		return 0
	case []any:
		return len(v)
	case map[string]any:
		return len(v)
	}
	return reflect.ValueOf(v).Len()
}

// element returns an element of a list.
func element(list any, i int) any {
	if l, ok := list.([]any); ok {
		return l[i]
	}
	return reflect.ValueOf(list).Index(i).Interface()
}

// field returns a field of an object. there is false if it has none; v is then
// the zero value of its element type.
func field(object any, name string) (v any, there bool) {
	if m, ok := object.(map[string]any); ok {
		v, there = m[name]
		return v, there
	}
	r := reflect.ValueOf(object)
	if r.Kind() == reflect.Struct {
		i, ok := fieldsByTag(r.Type())[name]
		if !ok {
			return nil, false
		}
		return r.Field(i).Interface(), true
	}
	if e := r.MapIndex(reflect.ValueOf(name)); e.IsValid() {
		return e.Interface(), true
	}
	return reflect.Zero(r.Type().Elem()).Interface(), false
}

var tagged sync.Map // reflect.Type -> map[string]int

// fieldsByTag returns the fields of an engine struct by their names in
// expressions.
func fieldsByTag(t reflect.Type) map[string]int {
	if known, ok := tagged.Load(t); ok {
		return known.(map[string]int)
	}
	out := map[string]int{}
	for i := range t.NumField() {
		if name := t.Field(i).Tag.Get("expr"); name != "" && name != "-" {
			out[name] = i
		}
	}
	tagged.Store(t, out)
	return out
}
