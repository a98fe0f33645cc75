package tty_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/pexctl/pex/builtins/tty"
)

func TestSafe(t *testing.T) {
	cases := []struct{ name, in, want string }{
		{"plain text stays", "a\tb\nc 日本語 é", "a\tb\nc 日本語 é"},
		{"an escape sequence is shown", "\x1b[2J\x1b]0;title\a", "␛[2J␛]0;title␇"},
		{"a lone return cannot overwrite", "fine\rEVIL", "fine␍EVIL"},
		{"a line break of Windows is one", "a\r\nb", "a\nb"},
		{"delete and backspace are shown", "a\x7f\b", "a␡␈"},
		{"C1 as a character", "\u009b2J", "\uFFFD2J"},
		{"C1 as a raw byte", "\x9b2J", "\uFFFD2J"},
		{"text cannot be reordered", "a\u202eb\u2066c", "a\uFFFDb\uFFFDc"},
		{"nor hidden", "a\u200bb\ufeff\U000e0041", "a\uFFFDb\uFFFD\uFFFD"},
		{"joiners stay", "\U0001f469\u200d\U0001f52c", "\U0001f469\u200d\U0001f52c"},
		{"no UTF-8", "a\xffb", "a\uFFFDb"},
		{"null", "a\x00b", "a␀b"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := tty.Safe(c.in); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func FuzzSafe(f *testing.F) {
	f.Add("\x1b[31m\x9b\u009b\r\n\x7f")
	f.Add("plain")
	f.Fuzz(func(t *testing.T, s string) {
		got := tty.Safe(s)
		if !utf8.ValidString(got) {
			t.Fatalf("%q is no UTF-8", got)
		}
		for _, r := range got {
			if r < 0x20 && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 {
				t.Fatalf("%q survived in %q", r, got)
			}
		}
		if again := tty.Safe(got); again != got {
			t.Fatalf("safe text changed from %q to %q", got, again)
		}
		if strings.Count(got, "\n") != strings.Count(s, "\n") {
			t.Fatalf("lines of %q changed: %q", s, got)
		}
	})
}
