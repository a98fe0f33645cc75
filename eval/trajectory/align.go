package trajectory

import "github.com/pexctl/pex/engine/text"

// Op says what an aligned line shows.
type Op string

// The operations.
const (
	Same    Op = " " // called as expected
	Differs Op = "~" // called with other arguments
	Missing Op = "-" // expected, and not called
	Extra   Op = "+" // called, and not expected
	Allowed Op = "." // called, not expected, and no harm
)

// Line is one line of an alignment.
type Line struct {
	Op       Op
	Expected *Call   // nil for Extra and Allowed
	Actual   *Actual // nil for Missing
	Fields   []Field // of Differs
}

// relation says how an actual call relates to an expected one.
type relation uint8

const (
	stranger relation = iota
	sameTool          // with other arguments
	sameCall
)

// alignment is expected and actual calls side by side.
type alignment struct {
	e      *Expectation
	actual []Actual
	rel    [][]relation // by expected and actual
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

// pair is the line of an expected and an actual call that belong together.
func (a *alignment) pair(i, j int) Line {
	l := Line{Op: Same, Expected: &a.e.Calls[i], Actual: &a.actual[j]}
	if a.rel[i][j] != sameCall {
		l.Op, l.Fields = Differs, a.fields(i, j, maxFields)
	}
	return l
}

func (a *alignment) alone(j int, op Op) Line { return Line{Op: op, Actual: &a.actual[j]} }

func (a *alignment) missing(i int) Line { return Line{Op: Missing, Expected: &a.e.Calls[i]} }

// The weights of the best alignment: as many calls as expected as possible, then
// as many of the same tool. MaxCalls of the first fit an int32.
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

// ordered aligns two sequences (edit distance: a call is taken, left out, or
// changed in its arguments); extra is the op of calls that nobody expected.
func (a *alignment) ordered(extra Op) []Line {
	n, m := len(a.e.Calls), len(a.actual)
	best := make([][]int32, n+1) // of what follows i and j
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
			out = append(out, a.alone(j, extra))
			j++
		}
	}
	for ; i < n; i++ {
		out = append(out, a.missing(i))
	}
	for ; j < m; j++ {
		out = append(out, a.alone(j, extra))
	}
	return out
}

// unordered pairs as many calls as can be, in whatever order, and lists them in
// the order of the actual ones.
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
			out = append(out, a.alone(j, extra))
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

// pairs is a largest pairing of calls that are as expected, by augmenting paths;
// -1 = alone.
func (a *alignment) pairs() (partner, taken []int) {
	partner, taken = alone(len(a.e.Calls)), alone(len(a.actual))
	var seen []bool
	var place func(i int) bool
	place = func(i int) bool {
		for j, r := range a.rel[i] {
			if r != sameCall || seen[j] {
				continue
			}
			seen[j] = true
			if taken[j] < 0 || place(taken[j]) {
				partner[i], taken[j] = j, i
				return true
			}
		}
		return false
	}
	for i := range partner {
		seen = make([]bool, len(taken))
		place(i)
	}
	return partner, taken
}

func alone(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = -1
	}
	return out
}
