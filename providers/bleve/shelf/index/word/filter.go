package word

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/blevesearch/bleve/v2/analysis"
	"github.com/blevesearch/bleve/v2/analysis/char/asciifolding"
)

var (
	_ analysis.TokenFilter = parts{}
	_ analysis.TokenFilter = plain{}
)

// parts puts the parts of an identifier behind it: snake_case, camelCase,
// HTTPServer, os.Root. It is found by its whole and by each part.
type parts struct{}

// Filter implements analysis.TokenFilter.
func (parts) Filter(in analysis.TokenStream) analysis.TokenStream {
	out := make(analysis.TokenStream, 0, len(in))
	for _, t := range in {
		out = append(out, t)
		if t.Type == analysis.Ideographic || simple(t.Term) {
			continue
		}
		for _, s := range split(string(t.Term)) {
			out = append(out, &analysis.Token{Term: []byte(s), Start: t.Start, End: t.End, Position: t.Position, Type: t.Type})
		}
	}
	return out
}

// simple says that a word has but one part, for most words at little cost.
func simple(term []byte) bool {
	for i, b := range term {
		small, digit := b >= 'a' && b <= 'z', b >= '0' && b <= '9'
		if capital := i == 0 && b >= 'A' && b <= 'Z'; !small && !digit && !capital {
			return false
		}
	}
	return true
}

// split lists the parts of a word, none if it is one part itself.
func split(word string) (out []string) {
	for _, piece := range strings.FieldsFunc(word, joint) {
		out = append(out, humps(piece)...)
	}
	if len(out) == 1 && out[0] == word {
		return nil
	}
	return out
}

// joint says what stands between the parts of a word; an apostrophe does not.
func joint(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) && r != '\'' && r != '’'
}

// humps cuts before a capital that follows a small letter or a digit, and
// before the last of several capitals where a small letter follows.
func humps(word string) (out []string) {
	runes := []rune(word)
	start := 0
	for i := 1; i < len(runes); i++ {
		if !unicode.IsUpper(runes[i]) {
			continue
		}
		ends := !unicode.IsUpper(runes[i-1])
		begins := i+1 < len(runes) && unicode.IsLower(runes[i+1])
		if ends || begins {
			out, start = append(out, string(runes[start:i])), i
		}
	}
	return append(out, string(runes[start:]))
}

// plain takes accents and other marks off Latin letters, however they are encoded,
// and drops what then is nothing.
type plain struct{}

var folding = asciifolding.New()

// Filter implements analysis.TokenFilter.
func (plain) Filter(in analysis.TokenStream) analysis.TokenStream {
	out := in[:0]
	for _, t := range in {
		if t.Type != analysis.Ideographic && !ascii(t.Term) {
			t.Term = []byte(strings.Map(unmarked, string(folding.Filter(t.Term))))
		}
		if len(t.Term) > 0 {
			out = append(out, t)
		}
	}
	return out
}

// unmarked drops what is put onto the letter before it (combining diacritical marks).
func unmarked(r rune) rune {
	if r >= 0x300 && r <= 0x36F {
		return -1
	}
	return r
}

func ascii(b []byte) bool {
	for _, c := range b {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
