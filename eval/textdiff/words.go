package textdiff

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// word is a piece of a line as people compare them: a word, white space, or one
// other character with the marks that belong to it. A line's end is one too.
type word struct {
	line     int
	from, to int
}

// markWords marks in lines that were cut, and in those that took their place,
// the words that the others lack. Text that was only wrapped anew has none.
// Lines that have little in common are left as they are: changed as a whole.
func markWords(cut, put []Line, left *int) {
	if len(cut) == 0 || len(put) == 0 {
		return
	}
	a, aText := wordsOf(cut)
	b, bText := wordsOf(put)
	runs := common(aText, bText, left)
	runs = slices.DeleteFunc(runs, func(r run) bool { // blanks between words that differ
		return r.a > 0 && r.b > 0 && blank(aText[r.a:r.a+r.n])
	})
	shared := 0
	for _, r := range runs {
		shared += weight(aText[r.a : r.a+r.n])
	}
	const least = 4 // one part of four
	if most := max(weight(aText), weight(bText)); shared*least < most || shared == 0 {
		return
	}
	keptA, keptB := make([]bool, len(a)), make([]bool, len(b))
	for _, r := range runs {
		for i := range r.n {
			keptA[r.a+i], keptB[r.b+i] = true, true
		}
	}
	mark(cut, a, aText, keptA)
	mark(put, b, bText, keptB)
}

// mark sets the spans of lines.
func mark(lines []Line, words []word, text []string, kept []bool) {
	for i := 0; i < len(words); {
		n := words[i].line
		l := &lines[n]
		spans, some := []Span{}, strings.TrimSpace(l.Text) == ""
		for ; i < len(words) && words[i].line == n; i++ {
			w := words[i]
			switch {
			case kept[i] || w.from == len(l.Text): // a line's end is never shown as changed
				some = some || !isBlank(text[i])
			case len(spans) > 0 && spans[len(spans)-1].To == w.from:
				spans[len(spans)-1].To = w.to
			default:
				spans = append(spans, Span{w.from, w.to})
			}
		}
		if some {
			l.Words = spans
		}
	}
}

func blank(words []string) bool {
	return !slices.ContainsFunc(words, func(s string) bool { return !isBlank(s) })
}

func isBlank(s string) bool { return strings.TrimSpace(s) == "" }

// weight is how much there is to read.
func weight(words []string) int {
	n := 0
	for _, s := range words {
		if !isBlank(s) {
			n += utf8.RuneCountInString(s)
		}
	}
	return n
}

// wordsOf cuts lines into words. A line's end is compared as a blank: so is
// text that was wrapped anew the same.
func wordsOf(lines []Line) ([]word, []string) {
	var out []word
	var text []string
	for n, l := range lines {
		if n > 0 {
			out, text = append(out, word{n - 1, len(lines[n-1].Text), len(lines[n-1].Text)}), append(text, " ")
		}
		for i := 0; i < len(l.Text); {
			to := i + wordLength(l.Text[i:])
			out, text = append(out, word{n, i, to}), append(text, l.Text[i:to])
			i = to
		}
	}
	return out, text
}

// sort of a character.
type sort int

const (
	other sort = iota // stands alone
	letter
	space
)

// wordLength is the length of the word that a text begins with, never 0.
func wordLength(s string) int {
	r, n := utf8.DecodeRuneInString(s)
	first := sortOf(r)
	joined := false // to the next character, by a zero width joiner
	for n < len(s) {
		r, size := utf8.DecodeRuneInString(s[n:])
		if !joined && !belongs(r) && (first == other || sortOf(r) != first) {
			break
		}
		joined = r == zeroWidthJoiner
		n += size
	}
	return n
}

const zeroWidthJoiner = 0x200d

// belongs says that a character is part of the one before: an accent, a
// variation, a skin tone, what is joined.
func belongs(r rune) bool {
	return r >= 0x300 && (unicode.IsMark(r) || r == zeroWidthJoiner || 0x1f3fb <= r && r <= 0x1f3ff)
}

// sortOf says how characters make words. Those of scripts that write no blanks
// between words stand alone.
func sortOf(r rune) sort {
	switch {
	case unicode.IsSpace(r):
		return space
	case r == '_' || unicode.IsDigit(r):
		return letter
	case !unicode.IsLetter(r), unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar):
		return other
	}
	return letter
}
