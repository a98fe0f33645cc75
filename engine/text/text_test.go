package text_test

import (
	"testing"
	"time"
	"unicode/utf8"

	"github.com/pexctl/pex/engine/jsonvalue"
	"github.com/pexctl/pex/engine/text"
)

func TestWords(t *testing.T) {
	for want, got := range map[string]string{
		"0 steps":         text.Count(0, "step"),
		"1 step":          text.Count(1, "step"),
		"2 steps":         text.Count(2, "step"),
		"":                text.List(nil),
		"a":               text.List([]string{"a"}),
		"a, b and c":      text.List([]string{"a", "b", "c"}),
		"a, b":            text.Some([]string{"a", "b"}, 2),
		"a, b and 3 more": text.Some([]string{"a", "b", "c", "d", "e"}, 2),
		"a b c":           text.OneLine(" a\n\tb  c "),
		`"<&>\n\""`:       jsonvalue.Quote("<&>\n\""),
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestShortenedTextsAreValidUTF8(t *testing.T) {
	for _, s := range []string{"", "abc", "äöü€𝄞", "a\xffb\xfe", "long enough to be cut"} {
		for n := range 8 {
			head, tail := text.Head(s, n), text.Tail(s, n)
			if len(head) > n || len(tail) > n {
				t.Errorf("%q: %d bytes wanted, got %q and %q", s, n, head, tail)
			}
			if len(s) > n && (!utf8.ValidString(head) || !utf8.ValidString(tail)) {
				t.Errorf("%q: %q or %q is not valid UTF-8", s, head, tail)
			}
			if n > 0 && utf8.RuneCountInString(text.ClipRunes(s, n)) > n {
				t.Errorf("%q: more than %d characters: %q", s, n, text.ClipRunes(s, n))
			}
		}
	}
	if got := text.Clip("äöü", 3); got != "ä…" {
		t.Errorf("got %q", got)
	}
}

func TestMatch(t *testing.T) {
	if !text.MatchAny([]string{"[", "read_*"}, "read_file") || text.MatchAny([]string{"[", "x"}, "[") {
		t.Error("a malformed glob must match nothing and not affect the others")
	}
}

func TestFigures(t *testing.T) {
	for _, c := range []struct{ name, got, want string }{
		{"few", text.Amount(999), "999"},
		{"thousands", text.Amount(1234), "1.2k"},
		{"millions", text.Amount(3_400_000), "3.4M"},
		{"a moment", text.Duration(12 * time.Millisecond), "12ms"},
		{"never less than none", text.Duration(-time.Second), "0ms"},
		{"seconds", text.Duration(3400 * time.Millisecond), "3.4s"},
		{"minutes", text.Duration(125*time.Second + time.Millisecond), "2m5s"},
		{"now", text.Ago(0), "now"},
		{"minutes ago", text.Ago(3*time.Minute + time.Second), "3m ago"},
		{"a day is 24 hours", text.Ago(47 * time.Hour), "47h ago"},
		{"days ago", text.Ago(49 * time.Hour), "2d ago"},
		{"one", text.Count(1, "step"), "1 step"},
		{"none", text.Count(0, "step"), "0 steps"},
	} {
		if c.got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, c.got, c.want)
		}
	}
}

func TestShellWord(t *testing.T) {
	for word, want := range map[string]string{"": "''", "a-b/c.d_e:1,2": "a-b/c.d_e:1,2", "a b": "'a b'", "it's": `'it'\''s'`, "$HOME": "'$HOME'"} {
		if got := text.ShellWord(word); got != want {
			t.Errorf("%q: got %s, want %s", word, got, want)
		}
	}
}
