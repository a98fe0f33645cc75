package interval

import (
	"math"
	"reflect"
	"slices"
)

// Has reports whether a value is within the range. Values have the types that
// Eval accepts and returns.
func (r Range) Has(v any) bool {
	if v == nil {
		return r.kinds&isNil != 0
	}
	rv := reflect.ValueOf(v)
	switch rv.Kind() {
	case reflect.Bool:
		return rv.Bool() && r.kinds&isTrue != 0 || !rv.Bool() && r.kinds&isFalse != 0
	case reflect.Int, reflect.Int64:
		return r.hasNumber(float64(rv.Int()))
	case reflect.Float64:
		return r.hasNumber(rv.Float())
	case reflect.String:
		return r.kinds&isText != 0 && (r.words == nil || slices.Contains(r.words, rv.String()))
	case reflect.Slice, reflect.Array:
		return r.hasList(rv)
	case reflect.Map:
		return r.hasFields(rv)
	case reflect.Struct:
		return r.kinds&isObject != 0
	default:
		return false
	}
}

func (r Range) hasNumber(f float64) bool {
	switch {
	case r.kinds&isNumber == 0:
		return false
	case math.IsNaN(f):
		return math.IsInf(r.lo, -1) && math.IsInf(r.hi, 1)
	case r.whole && !math.IsInf(f, 0) && f != math.Trunc(f):
		return false
	}
	return f >= r.lo && f <= r.hi
}

func (r Range) hasList(v reflect.Value) bool {
	if r.kinds&isList == 0 || v.Len() < r.least || v.Len() > r.most {
		return false
	}
	for i := range v.Len() {
		if r.elem != nil && !r.elem.Has(v.Index(i).Interface()) {
			return false
		}
	}
	return true
}

func (r Range) hasFields(v reflect.Value) bool {
	if r.kinds&isObject == 0 {
		return false
	}
	for name, f := range r.fields {
		value := v.MapIndex(reflect.ValueOf(name))
		if !value.IsValid() {
			if f.kinds&isNil == 0 {
				return false
			}
			continue
		}
		if !f.Has(value.Interface()) {
			return false
		}
	}
	for _, key := range v.MapKeys() {
		if _, known := r.fields[key.String()]; !known && !r.open {
			return false
		}
	}
	return true
}
