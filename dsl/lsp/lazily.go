package lsp

import (
	"regexp"
	"sync"
)

// lazily is a regular expression that is compiled when it is first asked for:
// most commands never do, and all would wait for it at their start.
func lazily(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}
