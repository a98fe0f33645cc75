package invisible_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/engine/invisible"
)

func TestClassOf(t *testing.T) {
	for name, row := range map[string]struct {
		r    rune
		want invisible.Class
	}{
		"letter":                {'a', ""},
		"line break":            {'\n', ""},
		"letter with an accent": {'é', ""},
		"combining mark":        {0x301, ""},
		"no-break space":        {0xa0, ""},
		"Arabic number sign":    {0x600, ""},
		"escape":                {0x1b, invisible.Control},
		"C1":                    {0x9b, invisible.Control},
		"line separator":        {0x2028, invisible.Control},
		"no character":          {0xffff, invisible.Control},
		"tag letter":            {0xe0041, invisible.Tag},
		"language tag":          {0xe0001, invisible.Tag},
		"override":              {0x202e, invisible.Bidi},
		"isolate":               {0x2066, invisible.Bidi},
		"Arabic letter mark":    {0x61c, invisible.Bidi},
		"zero-width space":      {0x200b, invisible.Blank},
		"soft hyphen":           {0xad, invisible.Blank},
		"byte order mark":       {0xfeff, invisible.Blank},
		"Hangul filler":         {0x3164, invisible.Blank},
		"grapheme joiner":       {0x34f, invisible.Blank},
		"invisible times":       {0x2062, invisible.Blank},
		"emoji style":           {0xfe0f, invisible.Selector},
		"supplement selector":   {0xe0100, invisible.Selector},
		"private":               {0xe000, invisible.Private},
		"private plane":         {0x10fffd, invisible.Private},
	} {
		t.Run(name, func(t *testing.T) {
			if got := invisible.ClassOf(row.r); got != row.want {
				t.Errorf("U+%04X is %q, want %q", row.r, got, row.want)
			}
		})
	}
}

func TestShowEscapesInvisibleCharacters(t *testing.T) {
	for _, row := range []struct{ name, text, want string }{
		{"plain text", "Reads a file.\n\tReally.", "Reads a file.\n\tReally."},
		{"tags", "ok\U000E0041\U000E0042", `ok\u{E0041}\u{E0042}`},
		{"bidi", "a\u202eb", `a\u{202E}b`},
		{"zero-width space", "de\u200blete", `de\u{200B}lete`},
		{"escape", "\x1b[2J", `\u{001B}[2J`},
		{"private use", "\ue000", `\u{E000}`},
		{"selectors that carry bytes", "a\ufe01\U000E0101", `a\u{FE01}\u{E0101}`},
		{"a family", "👨\u200d👩\u200d👧", "👨\u200d👩\u200d👧"},
		{"a heart on fire", "❤\ufe0f\u200d🔥", "❤\ufe0f\u200d🔥"},
		{"a shaken head", "🙂\u200d↔\ufe0f", "🙂\u200d↔\ufe0f"},
		{"a woman at work, with skin", "👩🏽\u200d🚒", "👩🏽\u200d🚒"},
		{"a keycap", "1\ufe0f\u20e3", "1\ufe0f\u20e3"},
		{"a number with a style for no reason", "1\ufe0f2", `1\u{FE0F}2`},
		{"a second style", "❤\ufe0f\ufe0f", `❤\ufe0f\u{FE0F}`},
		{"a joiner between letters", "a\u200db", `a\u{200D}b`},
		{"two joiners", "👨\u200d\u200d👩", `👨\u{200D}\u{200D}👩`},
		{"a joiner at the end", "👨\u200d", `👨\u{200D}`},
		{"Persian", "می\u200cخواهم", "می\u200cخواهم"},
		{"Sinhala", "ශ්\u200dරී", "ශ්\u200dරී"},
		{"line breaks of Windows", "a\r\nb", "a\r\nb"},
		{"a return that overwrites", "delete\rread", `delete\u{000D}read`},
		{"combining marks", "e\u0301 n\u0303", "e\u0301 n\u0303"},
	} {
		t.Run(row.name, func(t *testing.T) {
			want := strings.ReplaceAll(row.want, `\ufe0f`, "\ufe0f")
			got, n := invisible.Show(row.text)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
			if spelled := strings.Count(want, `\u{`); n != spelled {
				t.Errorf("%d characters counted, want %d", n, spelled)
			}
			if again, n := invisible.Show(got); again != got || n != 0 {
				t.Errorf("shown again it is %q, %d", again, n)
			}
		})
	}
}

func TestInYieldsOffsets(t *testing.T) {
	for i, r := range invisible.In("é\u200bx\u202e") {
		if want := map[rune]int{0x200b: 2, 0x202e: 6}; want[r] != i {
			t.Errorf("U+%04X at %d, want %d", r, i, want[r])
		}
	}
	seen := 0
	for range invisible.In("\u200b\u200b\u200b") {
		if seen++; seen == 2 {
			break
		}
	}
	if seen != 2 {
		t.Errorf("%d seen before the end, want 2", seen)
	}
}

func TestShowJSONStaysValid(t *testing.T) {
	for _, row := range []struct{ name, text, want string }{
		{"nothing", `{"type": "object", "n": 1.0}`, `{"type": "object", "n": 1.0}`},
		{"as it is", "{\"a\":\"x\u200by\"}", `{"a":"x\\u{200B}y"}`},
		{"escaped", `{"a":"x\u200by"}`, `{"a":"x\\u{200B}y"}`},
		{"a pair of escapes", `["\udb40\udc41"]`, `["\\u{E0041}"]`},
		{"the name of a member", `{"a\u200b" : 1, "z":"<&>"}`, `{"a\\u{200B}" : 1, "z":"<&>"}`},
		{"a written escape stays", `{"a":"x\\u200by \" \u0041"}`, `{"a":"x\\u200by \" \u0041"}`},
		{"no JSON", "{\"a\":\u200b", "{\"a\":\u200b"},
	} {
		t.Run(row.name, func(t *testing.T) {
			got, _ := invisible.ShowJSON([]byte(row.text))
			if diff := cmp.Diff(row.want, string(got)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func FuzzShow(f *testing.F) {
	for _, s := range []string{"", "plain", "a\u200db", "❤\ufe0f\ufe0f", "\xff\u202e", `{"a\u200b": ["\ud83d"]}`, "\"\u200b\\\"\""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		shown, n := invisible.Show(s)
		if again, more := invisible.Show(shown); again != shown || more != 0 {
			t.Errorf("%q shown again is %q", shown, again)
		}
		if n == 0 != (shown == s) {
			t.Errorf("%q: %d found, shown as %q", s, n, shown)
		}
		if utf8.ValidString(s) && !utf8.ValidString(shown) {
			t.Errorf("%q is no UTF-8", shown)
		}
		out, _ := invisible.ShowJSON([]byte(s))
		if json.Valid([]byte(s)) != json.Valid(out) {
			t.Errorf("%q became %q", s, out)
		}
	})
}
