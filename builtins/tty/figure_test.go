package tty_test

import (
	"testing"

	"github.com/pexctl/pex/builtins/tty"
)

func TestFigures(t *testing.T) {
	for _, c := range []struct{ name, got, want string }{
		{"cut", tty.OneLine("a long\ntext", 7), "a long…"},
		{"the end", tty.Tail("a long\ntext", 6), "… text"},
		{"no color", tty.Pen{}.Ink(tty.Red, "x"), "x"},
		{"color", tty.Pen{Color: true}.Ink(tty.Red, "x"), "\x1b[31mx\x1b[0m"},
	} {
		if c.got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, c.got, c.want)
		}
	}
}
