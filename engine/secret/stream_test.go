package secret_test

import (
	"encoding/base64"
	"encoding/hex"
	"net/url"
	"strings"
	"testing"

	"github.com/pexctl/pex/engine/secret"
)

// A stream returns the same text as Text for any split, and never a part of a value.
func TestStreamNeverShowsPartOfAValue(t *testing.T) {
	text := "a " + value + " b " + url.QueryEscape(value) + " s3cr3t-value, s3cr3t-value-and-more; s3cr3t-val and s3cr3t-v"
	want, _ := values.Text(text)
	for size := 1; size < len(text); size++ {
		s, shown := values.Stream(), ""
		for at := 0; at < len(text); at += size {
			shown += s.Next(text[at:min(at+size, len(text))])
			if !strings.HasPrefix(want, shown) {
				t.Fatalf("in pieces of %d it was shown %q", size, shown)
			}
		}
		if shown += s.Flush(); shown != want {
			t.Fatalf("in pieces of %d it was shown %q, want %q", size, shown, want)
		}
	}
}

func TestStreamHoldsBackTheMinimum(t *testing.T) {
	s := values.Stream()
	for _, step := range []struct{ piece, want string }{
		{"nothing of it. ", "nothing of it. "},
		{"here: s3c", "here: "},
		{"ond. ", "s3cond. "},
		{"", ""},
	} {
		if got := s.Next(step.piece); got != step.want {
			t.Errorf("after %q it shows %q, want %q", step.piece, got, step.want)
		}
	}
	if got := s.Flush(); got != "" {
		t.Errorf("it held back %q", got)
	}
	var none *secret.Values
	if got := none.Stream().Next(value); got != value {
		t.Errorf("without secrets it shows %q", got)
	}
}

// FuzzStream compares streams of texts split anywhere with Text.
func FuzzStream(f *testing.F) {
	f.Add("x"+value+"y", 3, 7)
	f.Add(hex.EncodeToString([]byte(value))+"s3cr3t-value-and", 9, 30)
	f.Add(base64.StdEncoding.EncodeToString([]byte("me:"+value)), 5, 6)
	f.Fuzz(func(t *testing.T, text string, i, j int) {
		if i < 0 || j < i || j > len(text) {
			return
		}
		s := values.Stream()
		shown := s.Next(text[:i]) + s.Next(text[i:j]) + s.Next(text[j:]) + s.Flush()
		if want, _ := values.Text(text); shown != want {
			t.Fatalf("%q cut at %d and %d was shown as %q, want %q", text, i, j, shown, want)
		}
	})
}
