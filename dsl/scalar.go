package dsl

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"

	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/engine"
)

// The plain scalars of YAML 1.2's core schema, less what JSON cannot say. A
// leading zero is text that keeps it: 007 and 012, as is any date. Where a key
// holds a whole number it is one, in tens.
var (
	intForm   = regexp.MustCompile(`^[-+]?(0|[1-9][0-9]*)$`)
	baseForm  = regexp.MustCompile(`^0(o[0-7]+|x[0-9a-fA-F]+)$`)
	floatForm = regexp.MustCompile(`^[-+]?(\.[0-9]+|(0|[1-9][0-9]*)(\.[0-9]*)?)([eE][-+]?[0-9]+)?$`)
)

// plainKind says what an unquoted scalar is.
func plainKind(s string) kind {
	switch s {
	case "", "~", "null", "Null", "NULL":
		return null
	case "true", "True", "TRUE", "false", "False", "FALSE":
		return boolean
	}
	switch {
	case intForm.MatchString(s):
		return integer
	case baseForm.MatchString(s):
		if _, err := strconv.ParseInt(s, 0, 64); err == nil {
			return integer
		}
	case floatForm.MatchString(s):
		if _, err := strconv.ParseFloat(s, 64); err == nil {
			return float
		}
	}
	return text
}

// boolWords are what YAML 1.1 took for booleans.
var boolWords = map[string]string{
	"yes": "true", "on": "true", "y": "true", "no": "false", "off": "false", "n": "false",
}

// jsonNumber is a number in JSON's spelling. A form that JSON has keeps its
// digits, so 1.10 stays 1.10.
func (v *value) jsonNumber() json.Number {
	s := strings.TrimPrefix(v.text, "+")
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

// isTrue is the value of a boolean.
func (v *value) isTrue() bool { return strings.EqualFold(v.text, "true") }

// exact is the value as JSON would decode it with numbers as json.Number.
func (v *value) exact() any { return v.plain(func(n json.Number) any { return n }) }

// loose is the value as JSON decodes it: numbers are float64, but for whole ones
// that a float64 would round, which are int.
func (v *value) loose() any {
	return v.plain(func(n json.Number) any {
		f, _ := n.Float64()
		if i, err := n.Int64(); err == nil && int64(f) != i {
			return int(i)
		}
		return f
	})
}

// kept says that a value stands in the Source of a Program, not in a file.
func (v *value) kept() bool { return v.src != nil && v.src.kind == resolved }

// tooLarge is the first whole number in a value that is beyond 64 bits, where it
// would be rounded; nil = there is none.
func (v *value) tooLarge() *value {
	switch v.kind {
	case integer:
		if _, err := v.jsonNumber().Int64(); err != nil {
			return v
		}
	case list:
		for _, it := range v.items {
			if n := it.tooLarge(); n != nil {
				return n
			}
		}
	case dict:
		for _, e := range v.entries {
			if n := e.val.tooLarge(); n != nil {
				return n
			}
		}
	default:
	}
	return nil
}

// rounded reports a whole number that the values of a run cannot hold. A run that
// an earlier version made with one goes on as it began.
func (c *compiler) rounded(v *value, what string, code diag.Code) bool {
	n := v.tooLarge()
	if n == nil || n.kept() {
		return false
	}
	c.report.error(code, n.place, "%s: %v", what, &engine.RoundedError{Number: n.text}).Hint = "write it in quotes, as a text"
	return true
}

func (v *value) plain(number func(json.Number) any) any {
	switch v.kind {
	case boolean:
		return v.isTrue()
	case integer, float:
		return number(v.jsonNumber())
	case text:
		return v.text
	case list:
		out := make([]any, len(v.items))
		for i, it := range v.items {
			out[i] = it.plain(number)
		}
		return out
	case dict:
		out := make(map[string]any, len(v.entries))
		for _, e := range v.entries {
			out[e.key] = e.val.plain(number)
		}
		return out
	default:
		return nil
	}
}
