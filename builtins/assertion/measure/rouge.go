package measure

import (
	"math/bits"
	"strings"
	"unicode"
)

// MaxWords is the number of words of a text that Rouge uses.
const MaxWords = 20_000

// Words returns the words of a text (runs of letters and digits) in lower case. cut
// reports whether words after the first MaxWords were omitted.
func Words(text string) (words []string, cut bool) {
	words = strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) })
	if len(words) > MaxWords {
		return words[:MaxWords], true
	}
	return words, false
}

// RougeN returns the ROUGE-N score as F1: the overlap of n-grams of words. Texts with
// fewer than n words have a score of 0.
func RougeN(n int, reference, answer []string) float64 {
	want, got := ngrams(n, reference), ngrams(n, answer)
	common, inReference, inAnswer := 0, 0, 0
	for run, times := range want {
		common += min(times, got[run])
		inReference += times
	}
	for _, times := range got {
		inAnswer += times
	}
	return f1(common, inReference, inAnswer)
}

// ngrams counts the n-grams of words.
func ngrams(n int, words []string) map[string]int {
	out := map[string]int{}
	for i := 0; i+n <= len(words); i++ {
		out[strings.Join(words[i:i+n], " ")]++
	}
	return out
}

// RougeL returns the ROUGE-L score as F1, based on the longest common subsequence of
// words.
func RougeL(reference, answer []string) float64 {
	return f1(commonSequence(reference, answer), len(reference), len(answer))
}

// f1 returns the harmonic mean of recall and precision.
func f1(common, inReference, inAnswer int) float64 {
	if common == 0 {
		return 0
	}
	return 2 * float64(common) / float64(inReference+inAnswer)
}

// commonSequence returns the length of the longest common subsequence. It processes 64
// cells of the table at a time (Hyyrö 2004); a zero bit marks a position where the length
// grows.
func commonSequence(a, b []string) int {
	masks := newMasks(a)
	row := make([]uint64, (len(a)+63)/64)
	for i := range row {
		row[i] = ^uint64(0)
	}
	for _, word := range b {
		mask := masks.of(word)
		if mask == nil {
			continue
		}
		carry := uint64(0)
		for i, v := range row {
			var sum uint64
			sum, carry = bits.Add64(v, v&mask[i], carry)
			row[i] = sum | v&^mask[i]
		}
	}
	n := 0
	for i := range a {
		if row[i/64]&(1<<(i%64)) == 0 {
			n++
		}
	}
	return n
}

// masks holds the positions of words as bit sets. Only the bit sets of frequent words are
// stored; the others are built on request.
type masks struct {
	places   map[string][]int
	frequent map[string][]uint64
	spare    []uint64
	dirty    []int
}

func newMasks(words []string) *masks {
	size := (len(words) + 63) / 64
	m := &masks{places: map[string][]int{}, frequent: map[string][]uint64{}, spare: make([]uint64, size)}
	for i, w := range words {
		m.places[w] = append(m.places[w], i)
	}
	for w, places := range m.places {
		if len(places) > size {
			m.frequent[w] = make([]uint64, size)
			set(m.frequent[w], places)
		}
	}
	return m
}

// of returns the bit set of a word, valid until the next call; nil = the word does not
// occur.
func (m *masks) of(word string) []uint64 {
	if kept := m.frequent[word]; kept != nil {
		return kept
	}
	for _, i := range m.dirty {
		m.spare[i/64] = 0
	}
	m.dirty = m.places[word]
	if m.dirty == nil {
		return nil
	}
	set(m.spare, m.dirty)
	return m.spare
}

func set(row []uint64, places []int) {
	for _, i := range places {
		row[i/64] |= 1 << (i % 64)
	}
}
