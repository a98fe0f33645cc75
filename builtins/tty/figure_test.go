package tty_test

import (
	"testing"
	"time"

	"github.com/pexctl/pex/builtins/tty"
	"github.com/pexctl/pex/engine/text"
)

func TestFigures(t *testing.T) {
	for _, c := range []struct{ name, got, want string }{
		{"few", tty.Amount(999), "999"},
		{"thousands", tty.Amount(1234), "1.2k"},
		{"millions", tty.Amount(3_400_000), "3.4M"},
		{"a moment", tty.Span(12 * time.Millisecond), "12ms"},
		{"never less than none", tty.Span(-time.Second), "0ms"},
		{"seconds", tty.Span(3400 * time.Millisecond), "3.4s"},
		{"minutes", tty.Span(125*time.Second + time.Millisecond), "2m5s"},
		{"now", tty.Ago(0), "now"},
		{"minutes ago", tty.Ago(3*time.Minute + time.Second), "3m ago"},
		{"a day is 24 hours", tty.Ago(47 * time.Hour), "47h ago"},
		{"days ago", tty.Ago(49 * time.Hour), "2d ago"},
		{"one", text.Count(1, "step"), "1 step"},
		{"none", text.Count(0, "step"), "0 steps"},
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
