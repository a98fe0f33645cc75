package dsl_test

import (
	"strings"
	"testing"

	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/dsl/diag"
)

// TestMappingsAndListsHaveMaximumLengths: a mapping may have 2,000 keys, a list
// more than twice as many items.
func TestMappingsAndListsHaveMaximumLengths(t *testing.T) {
	keys := func(n int) string {
		var b strings.Builder
		for i := range n {
			b.WriteString("k" + strings.Repeat("a", i%50) + string(rune('a'+i/50%26)) + string(rune('a'+i/1300)) + ": 1, ")
		}
		return b.String()
	}
	for _, test := range []struct {
		name, labels string
		want         int
	}{
		{"a list of 5,000 items", "enum: [" + strings.Repeat("1, ", 5000) + "]", 0},
		{"2,000 keys", "default: {" + keys(2000) + "}", 0},
		{"2,001 keys", "default: {" + keys(2001) + "}", 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			inFolder(t, map[string]string{"spec.yaml": head + "parameters:\n  x: {" + test.labels + "}\n"})
			_, found := dsl.Load("spec.yaml", options())
			large := 0
			for _, d := range found {
				if d.Code == diag.TooLarge {
					large++
				}
			}
			if large != test.want {
				t.Errorf("%d diagnostics of %s, want %d: %.500s", large, diag.TooLarge, test.want, found)
			}
		})
	}
}
