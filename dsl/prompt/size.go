package prompt

import (
	"strings"

	"github.com/pexctl/pex/engine/component"
)

// MaxRendered is the maximum size of a rendered template in bytes. Rendering a
// larger template panics with *component.TooLarge before allocating the memory.
const MaxRendered = 16 << 20

// maxFilters is the maximum number of filters of one reference: each json can
// double the text.
const maxFilters = 4

// fits panics if the rendered text exceeds MaxRendered bytes.
func (t *Template) fits(bytes int) {
	if bytes > MaxRendered {
		panic(&component.TooLarge{Template: t.source, Limit: MaxRendered})
	}
}

// sizeOf returns the total size of segments in bytes.
func sizeOf(segments []string) int {
	n := 0
	for _, s := range segments {
		n += len(s)
	}
	return n
}

// grown returns the size of a text after a filter, without applying it.
func (f filter) grown(s string) int {
	switch f.name {
	case "indent":
		return len(s) + strings.Count(s, "\n")*f.indent
	case "json":
		n := len(s)
		for i := range len(s) {
			switch c := s[i]; {
			case c == '"' || c == '\\':
				n++
			case c < 0x20:
				n += len(`\u0000`) - 1
			}
		}
		return n
	}
	return len(s)
}
