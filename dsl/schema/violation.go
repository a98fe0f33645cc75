package schema

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v5"
)

// Violation is one thing in a value that its schema forbids.
type Violation struct {
	Path    string // JSON pointer into the value; "" = the whole
	Message string
}

// Violations is the error of Validate: everything wrong with a value, by path.
type Violations []Violation

// maxLines bounds what Error lists: a model repairs the first ones anyway.
const maxLines = 20

// Error lists the violations, one a line as "/path: message", in words that a
// model asked to repair the value can follow.
func (vs Violations) Error() string {
	var b strings.Builder
	for i, v := range vs {
		if i == maxLines {
			fmt.Fprintf(&b, "\n... and %d more", len(vs)-maxLines)
			break
		}
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(place(v.Path) + ": " + v.Message)
	}
	return b.String()
}

// violationsOf lists the leaves of the library's error, sorted: it goes through
// its maps in any order.
func violationsOf(ve *jsonschema.ValidationError) Violations {
	out := leaves(nil, ve)
	slices.SortStableFunc(out, func(a, b Violation) int {
		return cmp.Or(strings.Compare(a.Path, b.Path), strings.Compare(a.Message, b.Message))
	})
	return slices.Compact(out)
}

func leaves(out Violations, ve *jsonschema.ValidationError) Violations {
	if len(ve.Causes) == 0 {
		return append(out, Violation{pointer(ve), readable(ve.Message)})
	}
	if k := ve.KeywordLocation; strings.HasSuffix(k, "/anyOf") || strings.HasSuffix(k, "/oneOf") {
		return append(out, Violation{pointer(ve), alternatives(ve)})
	}
	for _, c := range ve.Causes {
		out = leaves(out, c)
	}
	return out
}

// pointer is the place of an error, without the library's percent signs.
func pointer(ve *jsonschema.ValidationError) string {
	p, err := url.PathUnescape(ve.InstanceLocation)
	if err != nil {
		return ve.InstanceLocation
	}
	return p
}

// alternatives says in one line why no alternative fits.
func alternatives(ve *jsonschema.ValidationError) string {
	var b strings.Builder
	fmt.Fprintf(&b, "must match one of %d alternatives", len(ve.Causes))
	for i, c := range ve.Causes {
		if i == 5 {
			b.WriteString("; ...")
			break
		}
		b.WriteString(map[bool]string{true: ": ", false: "; "}[i == 0])
		for j, v := range violationsOf(c) {
			if j == 3 {
				b.WriteString(", ...")
				break
			}
			if j > 0 {
				b.WriteString(", ")
			}
			if p := strings.TrimPrefix(v.Path, pointer(ve)); p != "" {
				b.WriteString(p + " ")
			}
			b.WriteString(v.Message)
		}
	}
	return b.String()
}

// readable says the library's messages in plain words, and in one order.
func readable(m string) string {
	for _, k := range []string{"additionalProperties ", "unevaluatedProperties "} {
		if names, ok := strings.CutPrefix(m, k); ok {
			if names, ok = strings.CutSuffix(names, " not allowed"); ok {
				list := strings.Split(names, ", ")
				slices.Sort(list)
				return "unknown properties: " + strings.Join(list, ", ")
			}
		}
	}
	if what, got, ok := strings.Cut(m, ", but got "); ok {
		if want, ok := strings.CutPrefix(what, "expected "); ok {
			return "must be " + want + ", not " + got
		}
	}
	if n, ok := strings.CutPrefix(m, "missing properties: "); ok {
		return "missing properties: " + n
	}
	return m
}
