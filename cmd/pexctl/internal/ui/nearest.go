package ui

import (
	"strings"

	"github.com/pexctl/pex/dsl/diag"
)

// Nearest returns the name that was probably intended: the only one with this
// prefix, or a similar one; "" if none is near.
func Nearest(name string, names []string) string {
	var begin []string
	for _, n := range names {
		if name != "" && strings.HasPrefix(n, name) {
			begin = append(begin, n)
		}
	}
	if len(begin) == 1 {
		return begin[0]
	}
	return diag.Nearest(name, names)
}
