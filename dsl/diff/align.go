package diff

import (
	"bytes"
	"slices"

	"github.com/pexctl/pex/dsl"
)

// pair holds the old and the new index of a list entry; -1 if there is none.
type pair struct{ old, now int }

// mostCells limits the table of align. Larger lists are paired by position.
const mostCells = 1 << 20

// align pairs the entries of two lists without changing their order, and
// maximizes what the pairs have in common.
func align(a, b []dsl.Value) []pair {
	from, end := 0, 0
	for from < len(a) && from < len(b) && bytes.Equal(canonical(a[from]), canonical(b[from])) {
		from++
	}
	for end < len(a)-from && end < len(b)-from && bytes.Equal(canonical(a[len(a)-1-end]), canonical(b[len(b)-1-end])) {
		end++
	}
	var out []pair
	for i := range from {
		out = append(out, pair{i, i})
	}
	for _, p := range between(contents(a[from:len(a)-end]), contents(b[from:len(b)-end])) {
		if p.old >= 0 {
			p.old += from
		}
		if p.now >= 0 {
			p.now += from
		}
		out = append(out, p)
	}
	for i := end; i > 0; i-- {
		out = append(out, pair{len(a) - i, len(b) - i})
	}
	return out
}

// contents returns entries as maps of keys to values.
func contents(items []dsl.Value) []map[string]string {
	out := make([]map[string]string, len(items))
	for i, it := range items {
		out[i] = map[string]string{}
		for _, e := range it.Entries() {
			out[i][e.Key] = string(canonical(e.Value))
		}
	}
	return out
}

// between aligns the entries between a common prefix and a common suffix.
func between(a, b []map[string]string) []pair {
	if (len(a)+1)*(len(b)+1) > mostCells {
		return byPlace(len(a), len(b))
	}
	best := make([][]int, len(a)+1) // best result for the remaining entries of both lists
	for i := range best {
		best[i] = make([]int, len(b)+1)
	}
	for i, x := range slices.Backward(a) {
		for j, y := range slices.Backward(b) {
			best[i][j] = max(best[i+1][j], best[i][j+1])
			if s := similarity(x, y); s > 0 {
				best[i][j] = max(best[i][j], s+best[i+1][j+1])
			}
		}
	}
	var out []pair
	i, j := 0, 0
	for i < len(a) && j < len(b) {
		switch s := similarity(a[i], b[j]); {
		case s > 0 && best[i][j] == s+best[i+1][j+1]:
			out = append(out, pair{i, j})
			i, j = i+1, j+1
		case best[i][j] == best[i+1][j]:
			out = append(out, pair{i, -1})
			i++
		default:
			out = append(out, pair{-1, j})
			j++
		}
	}
	return append(out, rest(i, len(a), j, len(b))...)
}

// rest returns the entries after the last pair.
func rest(i, oldEnd, j, nowEnd int) (out []pair) {
	for ; i < oldEnd; i++ {
		out = append(out, pair{i, -1})
	}
	for ; j < nowEnd; j++ {
		out = append(out, pair{-1, j})
	}
	return out
}

func byPlace(old, now int) (out []pair) {
	both := min(old, now)
	for i := range both {
		out = append(out, pair{i, i})
	}
	return append(out, rest(both, old, both, now)...)
}

// equalScore is the score of two equal entries: higher than that of any two different
// ones.
const equalScore = 1000

// similarity returns a score for what two entries have in common: values of the same
// keys, or at least the keys. Entries with the score 0 are not paired.
func similarity(a, b map[string]string) int {
	keys, values := 0, 0
	for key, value := range a {
		if other, ok := b[key]; ok {
			keys++
			if other == value {
				values++
			}
		}
	}
	most := max(len(a), len(b))
	switch {
	case values == most:
		return equalScore
	case values > 0:
		return equalScore / 2 * values / most
	case keys == most:
		return 1
	}
	return 0
}
