package schema

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v5"
)

// Violation is one mistake of a value.
type Violation struct {
	Path    string // JSON pointer into the value; "" for the whole value
	Message string
}

// Violations is the error of Validate: all mistakes of a value, by path.
type Violations []Violation

// maxLines is the maximum number of violations in Error: a model fixes the first
// ones anyway.
const maxLines = 20

// Error lists the violations, one per line as "/path: message", worded for a
// model that repairs the value.
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

// violationsOf returns the leaves of the library's error, sorted, because the
// library iterates over maps.
func violationsOf(ve *jsonschema.ValidationError) Violations {
	out := leaves(nil, ve)
	slices.SortStableFunc(out, func(a, b Violation) int {
		return cmp.Or(strings.Compare(a.Path, b.Path), strings.Compare(a.Message, b.Message))
	})
	return slices.Compact(out)
}

func leaves(out Violations, ve *jsonschema.ValidationError) Violations {
	if len(ve.Causes) == 0 {
		return append(out, Violation{pointer(ve), readableMessage(ve.Message)})
	}
	if k := ve.KeywordLocation; strings.HasSuffix(k, "/anyOf") || strings.HasSuffix(k, "/oneOf") {
		return append(out, Violation{pointer(ve), alternatives(ve)})
	}
	for _, c := range ve.Causes {
		out = leaves(out, c)
	}
	return out
}

// pointer returns the place of an error, without the library's percent encoding.
func pointer(ve *jsonschema.ValidationError) string {
	p, err := url.PathUnescape(ve.InstanceLocation)
	if err != nil {
		return ve.InstanceLocation
	}
	return p
}

// alternatives explains in one line why no alternative matches.
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

// readableMessage rewrites the library's messages in plain words and in a fixed order.
func readableMessage(m string) string {
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
