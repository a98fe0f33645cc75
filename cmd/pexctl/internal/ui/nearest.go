package ui

import (
	"strings"

	"github.com/pexctl/pex/dsl/diag"
)

// Nearest is the one of the names that was probably meant: a beginning of one
// name only, or the one that is spelled nearly so; "" = none is near.
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
