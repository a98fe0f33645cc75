package textdiff

import "slices"

// maxCells bounds the comparisons of one diff. Beyond it, lines count as changed.
const maxCells = 4 << 20

// numbering assigns equal values equal numbers.
type numbering[T comparable] struct {
	ids map[T]int
}

// number returns the numbers of a list's values.
func (t *numbering[T]) number(list []T) []int {
	if t.ids == nil {
		t.ids = make(map[T]int, len(list))
	}
	out := make([]int, len(list))
	for i, x := range list {
		id, ok := t.ids[x]
		if !ok {
			id = len(t.ids)
			t.ids[x] = id
		}
		out[i] = id
	}
	return out
}

// run is a sequence of n values that both lists have, starting at index a in one and b in the other.
type run struct{ a, b, n int }

// common returns the common values of two lists, in order. Values that occur exactly once in both lists are
// anchors (patience diff); between anchors it is the longest common subsequence, as far as the budget allows. The
// cost is n log n plus what is deducted from *left.
func common[T comparable](before, after []T, budget *int) []run {
	var t numbering[T]
	m := &matcher{a: t.number(before), b: t.number(after), budget: budget}
	m.counts = make([]occurrences, len(t.ids))
	m.match(0, len(m.a), 0, len(m.b), maxDepth)
	return m.runs
}

// maxDepth bounds the recursion between anchors.
const maxDepth = 16

type matcher struct {
	a, b   []int // numbers of the values
	budget *int
	counts []occurrences // by number
	runs   []run
}

// occurrences is how often a value occurs in a range of each list, and the last index.
type occurrences struct{ inA, inB, a, b int }

func (m *matcher) match(a0, a1, b0, b1, depth int) {
	n := 0
	for a0+n < a1 && b0+n < b1 && m.a[a0+n] == m.b[b0+n] {
		n++
	}
	m.add(run{a0, b0, n})
	a0, b0, n = a0+n, b0+n, 0
	for a0 < a1-n && b0 < b1-n && m.a[a1-n-1] == m.b[b1-n-1] {
		n++
	}
	a1, b1 = a1-n, b1-n
	if a0 < a1 && b0 < b1 {
		m.between(a0, a1, b0, b1, depth)
	}
	m.add(run{a1, b1, n})
}

// between matches ranges whose first values differ, and whose last values differ.
func (m *matcher) between(a0, a1, b0, b1, depth int) {
	var anchors []run
	if depth > 0 {
		anchors = longestIncreasing(m.unique(a0, a1, b0, b1))
	}
	if len(anchors) == 0 {
		m.longest(a0, a1, b0, b1)
		return
	}
	for _, r := range anchors {
		m.match(a0, r.a, b0, r.b, depth-1)
		m.add(r)
		a0, b0 = r.a+1, r.b+1
	}
	m.match(a0, a1, b0, b1, depth-1)
}

// unique returns the values that occur exactly once in both ranges, in a's order.
func (m *matcher) unique(a0, a1, b0, b1 int) []run {
	for i := a0; i < a1; i++ {
		s := &m.counts[m.a[i]]
		s.inA, s.a = s.inA+1, i
	}
	for j := b0; j < b1; j++ {
		s := &m.counts[m.b[j]]
		s.inB, s.b = s.inB+1, j
	}
	var out []run
	for i := a0; i < a1; i++ {
		if s := m.counts[m.a[i]]; s.inA == 1 && s.inB == 1 {
			out = append(out, run{i, s.b, 1})
		}
	}
	for _, x := range m.a[a0:a1] {
		m.counts[x] = occurrences{}
	}
	for _, x := range m.b[b0:b1] {
		m.counts[x] = occurrences{}
	}
	return out
}

// longestIncreasing returns the longest subsequence of a list in which b increases too.
func longestIncreasing(list []run) []run {
	var ends, before []int // index of the best end per length, and of each run's predecessor
	for i, r := range list {
		n, _ := slices.BinarySearchFunc(ends, r.b, func(e, b int) int { return list[e].b - b })
		prev := -1
		if n > 0 {
			prev = ends[n-1]
		}
		before = append(before, prev)
		if n == len(ends) {
			ends = append(ends, i)
		} else {
			ends[n] = i
		}
	}
	if len(ends) == 0 {
		return nil
	}
	out := make([]run, len(ends))
	for n, i := len(ends)-1, ends[len(ends)-1]; n >= 0; n, i = n-1, before[i] {
		out[n] = list[i]
	}
	return out
}

// longest adds a longest common subsequence of two ranges if the budget allows.
func (m *matcher) longest(a0, a1, b0, b1 int) {
	rows, columns := a1-a0, b1-b0
	cost := (rows + 1) * (columns + 1)
	if cost > *m.budget {
		return
	}
	*m.budget -= cost
	width := columns + 1
	length := make([]int32, cost) // of the best subsequence from each pair of indexes on
	for i := rows - 1; i >= 0; i-- {
		for j := columns - 1; j >= 0; j-- {
			if m.a[a0+i] == m.b[b0+j] {
				length[i*width+j] = 1 + length[(i+1)*width+j+1]
			} else {
				length[i*width+j] = max(length[(i+1)*width+j], length[i*width+j+1])
			}
		}
	}
	for i, j := 0, 0; i < rows && j < columns; {
		switch {
		case m.a[a0+i] == m.b[b0+j]:
			m.add(run{a0 + i, b0 + j, 1})
			i, j = i+1, j+1
		case length[(i+1)*width+j] >= length[i*width+j+1]:
			i++
		default:
			j++
		}
	}
}

// add appends a run, or extends the last one if it is adjacent.
func (m *matcher) add(r run) {
	if r.n == 0 {
		return
	}
	if n := len(m.runs); n > 0 {
		if l := &m.runs[n-1]; l.a+l.n == r.a && l.b+l.n == r.b {
			l.n += r.n
			return
		}
	}
	m.runs = append(m.runs, r)
}
