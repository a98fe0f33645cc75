package measure

import (
	"math/bits"
	"strings"
	"unicode"
)

// MaxWords is how many words of a text Rouge looks at.
const MaxWords = 20_000

// Words are the words of a text: runs of letters and digits, in small letters.
// More than MaxWords are left out, and cut says so.
func Words(text string) (words []string, cut bool) {
	words = strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) })
	if len(words) > MaxWords {
		return words[:MaxWords], true
	}
	return words, false
}

// RougeN is ROUGE-N as F1: the runs of n words that two texts have in common.
// Texts with fewer words than n have none, and a score of 0.
func RougeN(n int, reference, answer []string) float64 {
	want, got := runs(n, reference), runs(n, answer)
	common, wanted, given := 0, 0, 0
	for run, times := range want {
		common += min(times, got[run])
		wanted += times
	}
	for _, times := range got {
		given += times
	}
	return f1(common, wanted, given)
}

// runs counts the runs of n words.
func runs(n int, words []string) map[string]int {
	out := map[string]int{}
	for i := 0; i+n <= len(words); i++ {
		out[strings.Join(words[i:i+n], " ")]++
	}
	return out
}

// RougeL is ROUGE-L as F1: the longest sequence of words that two texts have in
// common, others between them or not.
func RougeL(reference, answer []string) float64 {
	return f1(commonSequence(reference, answer), len(reference), len(answer))
}

// f1 is the harmonic mean of recall and precision.
func f1(common, wanted, given int) float64 {
	if common == 0 {
		return 0
	}
	return 2 * float64(common) / float64(wanted+given)
}

// commonSequence is the length of the longest common subsequence, 64 cells of
// its table at a time (Hyyrö 2004): a zero bit is a place where the length grows.
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

// masks are the places of words as bits. Few words are frequent, so that only
// their bits are kept; those of others are made from their places when asked for.
type masks struct {
	places map[string][]int
	kept   map[string][]uint64
	spare  []uint64
	dirty  []int
}

func newMasks(words []string) *masks {
	size := (len(words) + 63) / 64
	m := &masks{places: map[string][]int{}, kept: map[string][]uint64{}, spare: make([]uint64, size)}
	for i, w := range words {
		m.places[w] = append(m.places[w], i)
	}
	for w, places := range m.places {
		if len(places) > size {
			m.kept[w] = make([]uint64, size)
			set(m.kept[w], places)
		}
	}
	return m
}

// of is the bits of a word until it is asked for the next; nil = it is nowhere.
func (m *masks) of(word string) []uint64 {
	if kept := m.kept[word]; kept != nil {
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
