package prompt

import (
	"fmt"
	"strconv"
	"strings"
)

// filter transforms a value.
type filter struct {
	name   string
	indent int
}

// filterForms lists the filters in their notation.
const filterForms = "json, trim, indent N"

// maxIndent is the maximum that one filter can add to a line.
const maxIndent = 100

// parseFilter parses "indent 4". The error describes the mistake.
func parseFilter(src string) (filter, error) {
	words := strings.Fields(src)
	if len(words) == 0 {
		return filter{}, fmt.Errorf("a filter needs a name")
	}
	f := filter{name: words[0]}
	switch f.name {
	case "json", "trim":
		if len(words) > 1 {
			return f, fmt.Errorf("the filter %s takes no argument", f.name)
		}
	case "indent":
		n, err := strconv.Atoi(strings.Join(words[1:], " "))
		if err != nil || n < 0 || n > maxIndent {
			return f, fmt.Errorf("the filter indent takes a number from 0 to %d", maxIndent)
		}
		f.indent = n
	default:
		return f, fmt.Errorf("unknown filter %s", f.name)
	}
	return f, nil
}

// filtered applies filters from left to right; the result is always text.
//
// json returns the value as JSON (a string gets quotes), trim removes white space
// at both ends, indent adds spaces before every line except the first, which is
// already indented; empty lines stay empty.
func (t *Template) filtered(v any, filters []filter) any {
	for _, f := range filters {
		if f.name != "json" || isText(v) {
			s := rendered(v)
			t.fits(f.grown(s))
			v = s
		}
		switch f.name {
		case "json":
			v = encode(v)
		case "trim":
			v = strings.TrimSpace(v.(string))
		case "indent":
			v = indent(v.(string), strings.Repeat(" ", f.indent))
		}
	}
	return v
}

// isText reports whether a value is a string or segments of prompt text.
func isText(v any) bool {
	if _, ok := v.(string); ok {
		return true
	}
	_, ok := segments(v)
	return ok
}

func indent(s, by string) string {
	first, rest, more := strings.Cut(s, "\n")
	if !more {
		return s
	}
	var b strings.Builder
	b.WriteString(first)
	for more {
		first, rest, more = strings.Cut(rest, "\n")
		b.WriteByte('\n')
		if first != "" && first != "\r" {
			b.WriteString(by)
		}
		b.WriteString(first)
	}
	return b.String()
}
