package word

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/blevesearch/bleve/v2/analysis"
	"github.com/blevesearch/bleve/v2/analysis/char/asciifolding"
)

var (
	_ analysis.TokenFilter = splitIdentifiers{}
	_ analysis.TokenFilter = foldAccents{}
)

// splitIdentifiers adds the parts of identifiers: snake_case, camelCase, HTTPServer,
// os.Root. They match as a whole and by part.
type splitIdentifiers struct{}

// Filter implements analysis.TokenFilter.
func (splitIdentifiers) Filter(in analysis.TokenStream) analysis.TokenStream {
	out := make(analysis.TokenStream, 0, len(in))
	for _, t := range in {
		out = append(out, t)
		if t.Type == analysis.Ideographic || isSimple(t.Term) {
			continue
		}
		for _, s := range split(string(t.Term)) {
			out = append(out, &analysis.Token{Term: []byte(s), Start: t.Start, End: t.End, Position: t.Position, Type: t.Type})
		}
	}
	return out
}

// isSimple reports cheaply whether a word has only one part, which most words do.
func isSimple(term []byte) bool {
	for i, b := range term {
		small, digit := b >= 'a' && b <= 'z', b >= '0' && b <= '9'
		if capital := i == 0 && b >= 'A' && b <= 'Z'; !small && !digit && !capital {
			return false
		}
	}
	return true
}

// split returns the parts of a word, or nil if it has only one.
func split(word string) (out []string) {
	for _, piece := range strings.FieldsFunc(word, isSeparator) {
		out = append(out, splitCamel(piece)...)
	}
	if len(out) == 1 && out[0] == word {
		return nil
	}
	return out
}

// isSeparator reports whether r separates parts of a word; an apostrophe does not.
func isSeparator(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) && r != '\'' && r != '’'
}

// splitCamel splits before an upper-case letter that follows a lower-case letter or
// digit, and before the last of several upper-case letters if a lower-case one follows.
func splitCamel(word string) (out []string) {
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

// foldAccents removes accents and other marks from Latin letters in any encoding, and
// drops empty tokens.
type foldAccents struct{}

var folding = asciifolding.New()

// Filter implements analysis.TokenFilter.
func (foldAccents) Filter(in analysis.TokenStream) analysis.TokenStream {
	out := in[:0]
	for _, t := range in {
		if t.Type != analysis.Ideographic && !ascii(t.Term) {
			t.Term = []byte(strings.Map(dropMarks, string(folding.Filter(t.Term))))
		}
		if len(t.Term) > 0 {
			out = append(out, t)
		}
	}
	return out
}

// dropMarks removes combining diacritical marks.
func dropMarks(r rune) rune {
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
