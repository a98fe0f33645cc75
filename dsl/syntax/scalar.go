package syntax

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
)

// The plain scalars of YAML 1.2's core schema, less what JSON cannot say. A
// leading zero is text that keeps it: 007 and 012, as is any date. Where a key
// holds a whole number it is one, in tens.
var (
	IntForm   = regexp.MustCompile(`^[-+]?(0|[1-9][0-9]*)$`)
	baseForm  = regexp.MustCompile(`^0(o[0-7]+|x[0-9a-fA-F]+)$`)
	floatForm = regexp.MustCompile(`^[-+]?(\.[0-9]+|(0|[1-9][0-9]*)(\.[0-9]*)?)([eE][-+]?[0-9]+)?$`)
)

// PlainKind says what an unquoted scalar is.
func PlainKind(s string) Kind {
	switch s {
	case "", "~", "null", "Null", "NULL":
		return Null
	case "true", "True", "TRUE", "false", "False", "FALSE":
		return Bool
	}
	switch {
	case IntForm.MatchString(s):
		return Int
	case baseForm.MatchString(s):
		if _, err := strconv.ParseInt(s, 0, 64); err == nil {
			return Int
		}
	case floatForm.MatchString(s):
		if _, err := strconv.ParseFloat(s, 64); err == nil {
			return Float
		}
	}
	return Text
}

// BoolWords are what YAML 1.1 took for booleans.
var BoolWords = map[string]string{
	"yes": "true", "on": "true", "y": "true", "no": "false", "off": "false", "n": "false",
}

// Number is a number in JSON's spelling. A form that JSON has keeps its
// digits, so 1.10 stays 1.10.
func (v *Node) Number() json.Number {
	s := strings.TrimPrefix(v.Text, "+")
	if json.Valid([]byte(s)) {
		return json.Number(s)
	}
	if baseForm.MatchString(s) {
		n, _ := strconv.ParseInt(s, 0, 64)
		return json.Number(strconv.FormatInt(n, 10))
	}
	f, _ := strconv.ParseFloat(s, 64)
	return json.Number(strconv.FormatFloat(f, 'g', -1, 64))
}

// Bool is the value of a boolean.
func (v *Node) Bool() bool { return strings.EqualFold(v.Text, "true") }

// JSONValue is the value as JSON would decode it with numbers as json.Number.
func (v *Node) JSONValue() any { return v.decode(func(n json.Number) any { return n }) }

// Decoded is the value as JSON decodes it: numbers are float64, but for whole ones
// that a float64 would round, which are int.
func (v *Node) Decoded() any {
	return v.decode(func(n json.Number) any {
		f, _ := n.Float64()
		if i, err := n.Int64(); err == nil && int64(f) != i {
			return int(i)
		}
		return f
	})
}

// IsResolved says that a value is in the Source of a Program, not in a file.
func (v *Node) IsResolved() bool { return v.Source != nil && v.Source.Kind == Resolved }

// FirstTooLarge is the first whole number in a value that is beyond 64 bits, where it
// would be rounded; nil = there is none.
func (v *Node) FirstTooLarge() *Node {
	switch v.Kind {
	case Int:
		if _, err := v.Number().Int64(); err != nil {
			return v
		}
	case List:
		for _, it := range v.Items {
			if n := it.FirstTooLarge(); n != nil {
				return n
			}
		}
	case Map:
		for _, e := range v.Entries {
			if n := e.Value.FirstTooLarge(); n != nil {
				return n
			}
		}
	default:
	}
	return nil
}

func (v *Node) decode(number func(json.Number) any) any {
	switch v.Kind {
	case Bool:
		return v.Bool()
	case Int, Float:
		return number(v.Number())
	case Text:
		return v.Text
	case List:
		out := make([]any, len(v.Items))
		for i, it := range v.Items {
			out[i] = it.decode(number)
		}
		return out
	case Map:
		out := make(map[string]any, len(v.Entries))
		for _, e := range v.Entries {
			out[e.Key] = e.Value.decode(number)
		}
		return out
	default:
		return nil
	}
}
