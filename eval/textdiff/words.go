package textdiff

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// word is the unit of comparison within lines: a word, white space, or one other character with its combining
// marks. A line ending is a word too.
type word struct {
	line     int
	from, to int
}

// markWords marks the words of deleted lines that their replacement lacks, and the reverse. Text that was only
// rewrapped has none. Lines with little in common stay unmarked, which means that the whole line changed.
func markWords(deleted, inserted []Line, budget *int) {
	if len(deleted) == 0 || len(inserted) == 0 {
		return
	}
	a, aText := splitWords(deleted)
	b, bText := splitWords(inserted)
	runs := common(aText, bText, budget)
	runs = slices.DeleteFunc(runs, func(r run) bool { // drop common blanks between words that differ
		return r.a > 0 && r.b > 0 && allBlank(aText[r.a:r.a+r.n])
	})
	shared := 0
	for _, r := range runs {
		shared += weight(aText[r.a : r.a+r.n])
	}
	const least = 4 // at least a quarter of the text must be common
	if most := max(weight(aText), weight(bText)); shared*least < most || shared == 0 {
		return
	}
	commonA, commonB := make([]bool, len(a)), make([]bool, len(b))
	for _, r := range runs {
		for i := range r.n {
			commonA[r.a+i], commonB[r.b+i] = true, true
		}
	}
	mark(deleted, a, aText, commonA)
	mark(inserted, b, bText, commonB)
}

// mark sets the spans of lines to the words that are not common.
func mark(lines []Line, words []word, text []string, common []bool) {
	for i := 0; i < len(words); {
		n := words[i].line
		l := &lines[n]
		spans, marked := []Span{}, strings.TrimSpace(l.Text) == ""
		for ; i < len(words) && words[i].line == n; i++ {
			w := words[i]
			switch {
			case common[i] || w.from == len(l.Text): // a line ending is never shown as changed
				marked = marked || !isBlank(text[i])
			case len(spans) > 0 && spans[len(spans)-1].To == w.from:
				spans[len(spans)-1].To = w.to
			default:
				spans = append(spans, Span{w.from, w.to})
			}
		}
		if marked {
			l.Words = spans
		}
	}
}

func allBlank(words []string) bool {
	return !slices.ContainsFunc(words, func(s string) bool { return !isBlank(s) })
}

func isBlank(s string) bool { return strings.TrimSpace(s) == "" }

// weight returns the number of characters except white space.
func weight(words []string) int {
	n := 0
	for _, s := range words {
		if !isBlank(s) {
			n += utf8.RuneCountInString(s)
		}
	}
	return n
}

// splitWords splits lines into words. A line ending compares as a blank, so that rewrapped text is equal.
func splitWords(lines []Line) ([]word, []string) {
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

// charClass is a class of characters.
type charClass int

const (
	other charClass = iota // forms a word of its own
	letter
	space
)

// wordLength returns the length of the first word of a text. It is never 0.
func wordLength(s string) int {
	r, n := utf8.DecodeRuneInString(s)
	first := classOf(r)
	joined := false // to the next character, by a zero width joiner
	for n < len(s) {
		r, size := utf8.DecodeRuneInString(s[n:])
		if !joined && !isCombining(r) && (first == other || classOf(r) != first) {
			break
		}
		joined = r == zeroWidthJoiner
		n += size
	}
	return n
}

const zeroWidthJoiner = 0x200d

// isCombining reports whether a character continues the one before: an accent, a variation, a skin tone, a joiner.
func isCombining(r rune) bool {
	return r >= 0x300 && (unicode.IsMark(r) || r == zeroWidthJoiner || 0x1f3fb <= r && r <= 0x1f3ff)
}

// classOf returns the class of a character. Characters of scripts without blanks between words are words of their
// own.
func classOf(r rune) charClass {
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
