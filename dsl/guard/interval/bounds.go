package interval

import (
	"encoding/json"
	"maps"
	"math"
	"reflect"

	"github.com/pexctl/pex/dsl/guard"
	"github.com/pexctl/pex/dsl/guard/exact"
)

// Bounds are the ranges of names at a place. A missing name can have any value of
// its type.
type Bounds map[string]Range

// TypeBounds returns the ranges of an environment's names by their types alone.
// JSON values can be anything.
func TypeBounds(e guard.Env) Bounds {
	b := Bounds{}
	for _, name := range e.Names() {
		if t, ok := e.Struct(name); ok {
			b[name] = rangeOf(t)
		} else {
			b[name] = Anything()
		}
	}
	return b
}

// Over returns the bounds, with those of under for other names.
func (b Bounds) Over(under Bounds) Bounds {
	out := Bounds{}
	maps.Copy(out, under)
	maps.Copy(out, b)
	return out
}

// rangeOf returns the range of the values of a type.
func rangeOf(t reflect.Type) Range {
	switch t.Kind() {
	case reflect.Bool:
		return Truth()
	case reflect.Int:
		return Whole(math.Inf(-1), math.Inf(1))
	case reflect.Float64:
		return Number(math.Inf(-1), math.Inf(1))
	case reflect.String:
		return Text()
	case reflect.Slice:
		return List(0, -1, rangeOf(t.Elem()))
	case reflect.Struct:
		fields := map[string]Range{}
		for f := range t.Fields() {
			fields[f.Tag.Get("expr")] = rangeOf(f.Type)
		}
		return Object(fields)
	default: // JSON values and maps, whose content is unknown
		return Anything()
	}
}

// OfType returns the range of an engine type: OfType(exprenv.Step{}).
func OfType(v any) Range { return rangeOf(reflect.TypeOf(v)) }

// OfSchema returns the range of the values that match a JSON Schema. Unknown
// keywords only make it wider.
func OfSchema(schema any) Range {
	s, ok := schema.(map[string]any)
	if !ok {
		return Anything()
	}
	if c, ok := s["const"]; ok {
		return ofConstant(c)
	}
	if list, ok := s["enum"].([]any); ok && len(list) > 0 {
		out := ofConstant(list[0])
		for _, v := range list[1:] {
			out = out.Or(ofConstant(v))
		}
		return out
	}
	if s["type"] == nil && s["properties"] == nil {
		return fitsAlternatives(s)
	}
	return fitsType(s, s["type"])
}

// fitsAlternatives returns the range of the values that match one of the schemas
// of anyOf or oneOf.
func fitsAlternatives(s map[string]any) Range {
	list, _ := s["anyOf"].([]any)
	if list == nil {
		list, _ = s["oneOf"].([]any)
	}
	if len(list) == 0 {
		return Anything()
	}
	out := OfSchema(list[0])
	for _, alternative := range list[1:] {
		out = out.Or(OfSchema(alternative))
	}
	return out
}

func fitsType(s map[string]any, typ any) Range {
	switch typ {
	case "string":
		return Text()
	case "boolean":
		return Truth()
	case "null":
		return Nothing()
	case "integer":
		r := ofNumberSchema(s)
		r.whole = true
		return r
	case "number":
		return ofNumberSchema(s)
	case "array":
		return List(count(s["minItems"], 0), count(s["maxItems"], -1), elementOf(s))
	case "object":
		return fitsObject(s)
	}
	list, _ := typ.([]any)
	if len(list) == 0 {
		return Anything()
	}
	out := fitsType(s, list[0])
	for _, t := range list[1:] {
		out = out.Or(fitsType(s, t))
	}
	return out
}

func elementOf(s map[string]any) Range {
	if s["prefixItems"] != nil {
		return Anything()
	}
	return OfSchema(s["items"])
}

// fitsObject returns the range of an object. Fields that the schema does not name
// are possible unless it forbids them; patterns are ignored.
func fitsObject(s map[string]any) Range {
	props, _ := s["properties"].(map[string]any)
	required := map[string]bool{}
	names, _ := s["required"].([]any)
	for _, n := range names {
		if name, ok := n.(string); ok {
			required[name] = true
		}
	}
	fields := make(map[string]Range, len(props))
	for name, p := range props {
		fields[name] = OfSchema(p)
		if !required[name] {
			fields[name] = fields[name].Or(Nothing())
		}
	}
	out := Object(fields)
	out.open = s["additionalProperties"] != false || s["patternProperties"] != nil
	if rest, ok := s["additionalProperties"].(map[string]any); ok && s["patternProperties"] == nil {
		r := OfSchema(rest)
		out.rest = &r
	}
	out.named = declaresFields(s)
	return out
}

// declaresFields reports whether a schema lists the fields of an object, whether
// or not it allows others.
func declaresFields(s map[string]any) bool {
	for _, key := range []string{"patternProperties", "anyOf", "oneOf", "if", "not", "dependentSchemas", "$dynamicRef", "unevaluatedProperties"} {
		if s[key] != nil {
			return false
		}
	}
	extra, said := s["additionalProperties"]
	if said {
		return extra == false
	}
	return s["properties"] != nil
}

// ofNumberSchema returns the range of numbers between the bounds of a schema.
func ofNumberSchema(s map[string]any) Range {
	r := Number(math.Inf(-1), math.Inf(1))
	for _, key := range []string{"minimum", "exclusiveMinimum"} {
		if f, ok := numeric(s[key]); ok {
			r.lo = max(r.lo, f)
		}
	}
	for _, key := range []string{"maximum", "exclusiveMaximum"} {
		if f, ok := numeric(s[key]); ok {
			r.hi = min(r.hi, f)
		}
	}
	return r
}

func count(v any, otherwise int) int {
	if f, ok := numeric(v); ok && f >= 0 && f < exact.MaxInt {
		return int(f)
	}
	return otherwise
}

func numeric(v any) (float64, bool) {
	q, ok := exact.Of(v)
	if !ok {
		return 0, false
	}
	return exact.Float(q), true
}

// ofConstant returns the range of one value; for lists and objects, only the
// kind.
func ofConstant(v any) Range {
	switch v := v.(type) {
	case nil:
		return Nothing()
	case bool:
		return boolean(v, !v)
	case string:
		return Words(v)
	case int, float64, json.Number:
		f, _ := numeric(v)
		return Range{kinds: isNumber, lo: f, hi: f, whole: f == math.Trunc(f)}.clampPrecision()
	case []any:
		return List(len(v), len(v), Anything())
	case map[string]any:
		return Range{kinds: isObject, open: true}
	}
	return Anything()
}

// boolean returns the range of a boolean that can be true, false or both.
func boolean(mayTrue, mayFalse bool) Range {
	var r Range
	if mayTrue {
		r.kinds |= isTrue
	}
	if mayFalse {
		r.kinds |= isFalse
	}
	return r
}

// clampPrecision drops bounds beyond which numbers are not distinguished.
func (r Range) clampPrecision() Range {
	if r.lo <= -exact.MaxInt || r.hi >= exact.MaxInt {
		r.lo, r.hi = math.Inf(-1), math.Inf(1)
	}
	return r
}
