package batch

import "slices"

// MaxTrend is the most evaluations in a Trend: the latest.
const MaxTrend = 40

// Trend is the history of a suite.
type Trend struct {
	Suite       string
	Evaluations []Summary // oldest first
}

// Trends returns the trend of each suite with at least two evaluations that have results, the suite with the oldest
// evaluation first. list has the latest evaluation first, as List.
func Trends(list []Summary) (out []Trend) {
	at := map[string]int{}
	for _, e := range slices.Backward(list) {
		if e.Problem != "" || e.Trials == 0 {
			continue
		}
		i, ok := at[e.Suite]
		if !ok {
			i = len(out)
			at[e.Suite], out = i, append(out, Trend{Suite: e.Suite})
		}
		out[i].Evaluations = append(out[i].Evaluations, e)
	}
	for i := range out {
		t := &out[i]
		t.Evaluations = t.Evaluations[max(0, len(t.Evaluations)-MaxTrend):]
	}
	return slices.DeleteFunc(out, func(t Trend) bool { return len(t.Evaluations) < 2 })
}
