package ui_test

import (
	"bytes"
	"testing"

	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
)

func TestHintsAreForTerminalsOnly(t *testing.T) {
	var b bytes.Buffer
	ui.PrintHints(&b, []string{"next: x"})
	if b.Len() > 0 {
		t.Errorf("%q", b.String())
	}
}

func TestNearest(t *testing.T) {
	names := []string{"run", "render", "explain", "graph", "max"}
	cases := []struct{ in, want string }{
		{"rnu", "run"},
		{"Run", "run"},
		{"ren", "render"},
		{"re", "render"},
		{"grpah", "graph"},
		{"explian", "explain"},
		{"elephants", ""},
		{"", ""},
		{"x", ""},
	}
	for _, c := range cases {
		t.Run(c.in, func(t *testing.T) {
			if got := ui.Nearest(c.in, names); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
