package jsonvalue_test

import (
	"strings"
	"testing"

	"github.com/pexctl/pex/engine/jsonvalue"
)

func FuzzAppendStringIsWhatEncodeWrites(f *testing.F) {
	for _, s := range []string{"", "plain", "a \"b\" \\ c\n\t\r", "\x00\b\f\x1f\x7f", "<&>", "grün 😀", "…\u2028\u2029", "\xff\xc3", "a\n\x01b\u2028"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		want, err := jsonvalue.Marshal(strings.ToValidUTF8(s, "\uFFFD"))
		if got := jsonvalue.AppendString([]byte("x"), s); err != nil || string(got) != "x"+string(want) {
			t.Fatalf("%q: got %s, want x%s (%v)", s, got, want, err)
		}
	})
}
