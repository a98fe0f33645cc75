package trajectory

import "github.com/pexctl/pex/engine/text"

// Op is the kind of an aligned line.
type Op string

// The operations.
const (
	Same    Op = " " // called as expected
	Differs Op = "~" // called with other arguments
	Missing Op = "-" // expected, but not called
	Extra   Op = "+" // called, but not expected
	Allowed Op = "." // called and not expected, but allowed
)

// Line is one line of an alignment.
type Line struct {
	Op       Op
	Expected *Call   // nil for Extra and Allowed
	Actual   *Actual // nil for Missing
	Fields   []Field // differing arguments, if Op is Differs
}

// relation is how well an actual call matches an expected one.
type relation uint8

const (
	stranger relation = iota
	sameTool          // different arguments
	sameCall
)

// alignment aligns expected and actual calls.
type alignment struct {
	e      *Expectation
	actual []Actual
	rel    [][]relation // by indexes of expected and actual call
	rules  map[ruleKey]Rule
}

type ruleKey struct {
	call int
	tool string
}

func newAlignment(e *Expectation, actual []Actual) *alignment {
	a := &alignment{e: e, actual: actual, rel: make([][]relation, len(e.Calls)), rules: map[ruleKey]Rule{}}
	for i := range e.Calls {
		a.rel[i] = make([]relation, len(actual))
		for j := range actual {
			a.rel[i][j] = a.relate(i, j)
		}
	}
	return a
}

func (a *alignment) relate(i, j int) relation {
	switch c := &a.e.Calls[i]; {
	case !text.Match(c.Tool, a.actual[j].Tool):
		return stranger
	case len(a.fields(i, j, 1)) > 0:
		return sameTool
	}
	return sameCall
}

func (a *alignment) fields(i, j, limit int) []Field {
	c, got := &a.e.Calls[i], &a.actual[j]
	key := ruleKey{i, got.Tool}
	rule, known := a.rules[key]
	if !known {
		rule = a.e.ruleFor(c, got.Tool)
		a.rules[key] = rule
	}
	return compare(c.Args, got.Args, rule, limit)
}

// pair returns the line of a matched pair of calls.
func (a *alignment) pair(i, j int) Line {
	l := Line{Op: Same, Expected: &a.e.Calls[i], Actual: &a.actual[j]}
	if a.rel[i][j] != sameCall {
		l.Op, l.Fields = Differs, a.fields(i, j, maxFields)
	}
	return l
}

func (a *alignment) single(j int, op Op) Line { return Line{Op: op, Actual: &a.actual[j]} }

func (a *alignment) missing(i int) Line { return Line{Op: Missing, Expected: &a.e.Calls[i]} }

// The weights maximize the number of calls as expected, and then those of the same tool. MaxCalls times weightCall
// fits an int32.
const (
	weightCall int32 = 1 << 16
	weightTool int32 = 1
)

func (r relation) weight() int32 {
	switch r {
	case sameCall:
		return weightCall
	case sameTool:
		return weightTool
	default:
		return 0
	}
}

// ordered aligns two sequences like an edit distance: calls match, differ in their arguments, or have no
// counterpart. extra is the op of unexpected calls.
func (a *alignment) ordered(extra Op) []Line {
	n, m := len(a.e.Calls), len(a.actual)
	best := make([][]int32, n+1) // weight of the best alignment from i and j on
	for i := range best {
		best[i] = make([]int32, m+1)
	}
	for i := n - 1; i >= 0; i-- {
		for j := m - 1; j >= 0; j-- {
			best[i][j] = max(best[i+1][j], best[i][j+1])
			if w := a.rel[i][j].weight(); w > 0 {
				best[i][j] = max(best[i][j], w+best[i+1][j+1])
			}
		}
	}
	var out []Line
	i, j := 0, 0
	for i < n && j < m {
		w := a.rel[i][j].weight()
		switch {
		case w > 0 && best[i][j] == w+best[i+1][j+1]:
			out = append(out, a.pair(i, j))
			i, j = i+1, j+1
		case best[i][j] == best[i+1][j]:
			out = append(out, a.missing(i))
			i++
		default:
			out = append(out, a.single(j, extra))
			j++
		}
	}
	for ; i < n; i++ {
		out = append(out, a.missing(i))
	}
	for ; j < m; j++ {
		out = append(out, a.single(j, extra))
	}
	return out
}

// unordered pairs as many calls as possible in any order, and lists them in the order of the actual calls.
func (a *alignment) unordered(extra Op) []Line {
	partner, taken := a.pairs()
	for i := range partner {
		for j := 0; partner[i] < 0 && j < len(a.actual); j++ {
			if taken[j] < 0 && a.rel[i][j] == sameTool {
				partner[i], taken[j] = j, i
			}
		}
	}
	var out []Line
	for j, i := range taken {
		if i < 0 {
			out = append(out, a.single(j, extra))
		} else {
			out = append(out, a.pair(i, j))
		}
	}
	for i := range partner {
		if partner[i] < 0 && a.e.Match != Subset {
			out = append(out, a.missing(i))
		}
	}
	return out
}

// pairs returns a maximum matching of calls as expected, found with augmenting paths. The value -1 means no
// partner.
func (a *alignment) pairs() (partner, taken []int) {
	partner, taken = unmatched(len(a.e.Calls)), unmatched(len(a.actual))
	var visited []bool
	var tryPlace func(i int) bool
	tryPlace = func(i int) bool {
		for j, r := range a.rel[i] {
			if r != sameCall || visited[j] {
				continue
			}
			visited[j] = true
			if taken[j] < 0 || tryPlace(taken[j]) {
				partner[i], taken[j] = j, i
				return true
			}
		}
		return false
	}
	for i := range partner {
		visited = make([]bool, len(taken))
		tryPlace(i)
	}
	return partner, taken
}

func unmatched(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = -1
	}
	return out
}
