package tty_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/pexctl/pex/builtins/tty"
)

func writeAll(ci bool, parts ...string) string {
	var b strings.Builder
	w := tty.NewWriter(&b, ci)
	for _, p := range parts {
		if n, err := w.Write([]byte(p)); err != nil || n != len(p) {
			return "error"
		}
	}
	if w.Flush() != nil {
		return "error"
	}
	return b.String()
}

func TestWriterEscapesControlCharactersInSplitWrites(t *testing.T) {
	for _, text := range []string{
		"plain\n", "a\x1b]52;c;x\a b\n", "\x9b2J \u009b2J", "a\u202eb", "one\r\ntwo\rthree\n", "日本語 \U0001f469\u200d\U0001f52c", "a\xff", "\r",
	} {
		want := tty.Safe(text)
		for i := range len(text) + 1 {
			if got := writeAll(false, text[:i], text[i:]); got != want {
				t.Errorf("%q cut at %d: %q, want %q", text, i, got, want)
			}
		}
	}
}

func TestWriterBreaksUpWorkflowCommands(t *testing.T) {
	for text, want := range map[string]string{
		"::error::x\n":                  ": :error::x\n",
		"  \t ::add-mask::x":            "  \t : :add-mask::x",
		"\u3000\u200d::stop-commands":   "\u3000\u200d: :stop-commands",
		"a ::error::x":                  "a ::error::x",
		"a\n::error::x":                 "a\n: :error::x",
		"a\r\n::error::x":               "a\n: :error::x",
		"a\r::error::x":                 "a␍::error::x",
		"x ##[error]y":                  "x ## [error]y",
		"##vso[task.setvariable]":       "##vso [task.setvariable]",
		"##teamcity[message]":           "##teamcity [message]",
		"###[group]":                    "### [group]",
		"#\u200d#[group]":               "#\u200d# [group]",
		"## [link](x)":                  "## [link](x)",
		"#[a] ##\n[b]":                  "#[a] ##\n[b]",
		"std::vector ::x":               "std::vector ::x",
		" : :x":                         " : :x",
		":::warning::x":                 ": ::warning::x",
		"##[a]##[b]":                    "## [a]## [b]",
		"%0A::error":                    "%0A::error",
		"":                              "",
		"\u00a0::debug::x\n\n::debug::": "\u00a0: :debug::x\n\n: :debug::",
	} {
		for i := range len(text) + 1 {
			if got := writeAll(true, text[:i], text[i:]); got != want {
				t.Errorf("%q cut at %d: %q, want %q", text, i, got, want)
			}
		}
		if got := writeAll(false, text); got != tty.Safe(text) {
			t.Errorf("%q without CI: %q", text, got)
		}
	}
}

func TestOnlyStyledTextCanSetColors(t *testing.T) {
	var b strings.Builder
	w := tty.NewWriter(&b, false)
	_, _ = w.WriteStyled([]byte(tty.Pen{Color: true}.Ink(tty.Red, "red") + "\x1b[2J\x1b]0;x\a"))
	_, _ = w.Write([]byte("\x1b[31mno\n"))
	_, _ = w.WriteVerbatim([]byte("\x1b[2J"))
	if want := "\x1b[31mred\x1b[0m␛[2J␛]0;x␇␛[31mno\n\x1b[2J"; b.String() != want {
		t.Errorf("%q, want %q", b.String(), want)
	}
}

func TestSafeJSONHasTheSameValue(t *testing.T) {
	for _, value := range []string{"plain", "\x1b[2J \u009b \u202e \U000e0041 \x7f", "##[error] ##vso[x] ###", "日本語 \U0001f469\u200d\U0001f52c"} {
		text, err := json.MarshalIndent(map[string]string{value: value}, "", " ")
		if err != nil {
			t.Fatal(err)
		}
		got := tty.JSON(text, true)
		var back map[string]string
		if err := json.Unmarshal(got, &back); err != nil || back[value] != value {
			t.Errorf("%q: %s, %v", value, got, err)
		}
		if s := string(got); tty.Safe(s) != s || strings.Contains(s, "##") {
			t.Errorf("%q: %s", value, s)
		}
	}
}

func FuzzWriter(f *testing.F) {
	f.Add("\x1b[31m\x9b\u009b\r\n\x7f ::x ##[y]", 3)
	f.Fuzz(func(t *testing.T, s string, cut int) {
		cut = min(max(cut, 0), len(s))
		got := writeAll(true, s[:cut], s[cut:])
		if !utf8.ValidString(got) || tty.Safe(got) != got {
			t.Errorf("%q gives %q", s, got)
		}
		for line := range strings.Lines(got) {
			if strings.HasPrefix(strings.TrimSpace(line), "::") || strings.Contains(line, "##[") || strings.Contains(line, "##vso[") {
				t.Errorf("%q gives the line %q", s, line)
			}
		}
	})
}
