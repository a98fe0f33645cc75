package syntax

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/pexctl/pex/engine/text"
)

// Plain scalars of YAML 1.2's core schema, without those that JSON cannot
// represent. Scalars with a leading zero, such as 007 and 012, and dates are
// text. For a key of type integer they are decimal numbers.
var (
	IntForm   = text.Regexp(`^[-+]?(0|[1-9][0-9]*)$`)
	baseForm  = text.Regexp(`^0(o[0-7]+|x[0-9a-fA-F]+)$`)
	floatForm = text.Regexp(`^[-+]?(\.[0-9]+|(0|[1-9][0-9]*)(\.[0-9]*)?)([eE][-+]?[0-9]+)?$`)
)

// PlainKind returns the kind of an unquoted scalar.
func PlainKind(s string) Kind {
	switch s {
	case "", "~", "null", "Null", "NULL":
		return Null
	case "true", "True", "TRUE", "false", "False", "FALSE":
		return Bool
	}
	switch {
	case IntForm().MatchString(s):
		return Int
	case baseForm().MatchString(s):
		if _, err := strconv.ParseInt(s, 0, 64); err == nil {
			return Int
		}
	case floatForm().MatchString(s):
		if _, err := strconv.ParseFloat(s, 64); err == nil {
			return Float
		}
	}
	return Text
}

// BoolWords are the booleans of YAML 1.1.
var BoolWords = map[string]string{
	"yes": "true", "on": "true", "y": "true", "no": "false", "off": "false", "n": "false",
}

// Number returns a number in JSON notation. Numbers that are valid JSON keep
// their digits, so 1.10 stays 1.10.
func (v *Node) Number() json.Number {
	s := strings.TrimPrefix(v.Text, "+")
	if json.Valid([]byte(s)) {
		return json.Number(s)
	}
	if baseForm().MatchString(s) {
		n, _ := strconv.ParseInt(s, 0, 64)
		return json.Number(strconv.FormatInt(n, 10))
	}
	f, _ := strconv.ParseFloat(s, 64)
	return json.Number(strconv.FormatFloat(f, 'g', -1, 64))
}

// Bool returns the value of a boolean.
func (v *Node) Bool() bool { return strings.EqualFold(v.Text, "true") }

// JSONValue returns the value in the form of a JSON decoder with numbers as
// json.Number.
func (v *Node) JSONValue() any { return v.decode(func(n json.Number) any { return n }) }

// Decoded returns the value in the form of a JSON decoder: numbers are float64,
// except whole numbers that a float64 would round, which are int.
func (v *Node) Decoded() any {
	return v.decode(func(n json.Number) any {
		f, _ := n.Float64()
		if i, err := n.Int64(); err == nil && int64(f) != i {
			return int(i)
		}
		return f
	})
}

// IsResolved reports whether a value is in the Source of a Program, not in a
// file.
func (v *Node) IsResolved() bool { return v.Source != nil && v.Source.Kind == Resolved }

// FirstTooLarge returns the first whole number in a value that does not fit into
// 64 bits and would be rounded, or nil if there is none.
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
