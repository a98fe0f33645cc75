package fold

import "iter"

// Cases are the cases of a report, in the order of the dataset and then of the
// variants. They are kept small and a CaseStats is made when it is asked for:
// tens of thousands of them are not held at once. The zero value has none.
type Cases struct {
	n  int
	at func(i int) CaseStats
}

// CasesOf is Cases of a list, in its order.
func CasesOf(list ...CaseStats) Cases {
	return Cases{len(list), func(i int) CaseStats { return list[i] }}
}

// Len is how many there are.
func (c Cases) Len() int { return c.n }

// At makes the i-th, from 0.
func (c Cases) At(i int) CaseStats { return c.at(i) }

// Slice makes those from the i-th up to before the j-th.
func (c Cases) Slice(i, j int) []CaseStats {
	out := make([]CaseStats, 0, j-i)
	for ; i < j; i++ {
		out = append(out, c.at(i))
	}
	return out
}

// All gives them with their numbers, from 0.
func (c Cases) All() iter.Seq2[int, CaseStats] {
	return func(yield func(int, CaseStats) bool) {
		for i := range c.n {
			if !yield(i, c.at(i)) {
				return
			}
		}
	}
}
