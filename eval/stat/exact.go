package stat

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/combin"
	"gonum.org/v1/gonum/stat/distuv"
)

// McNemar returns the exact two-sided p-value of paired binary outcomes, of which worse changed from yes to no and
// better from no to yes.
func McNemar(worse, better int) float64 {
	n := worse + better
	if n == 0 {
		return 1
	}
	half := distuv.Binomial{N: float64(n), P: 0.5}
	return min(1, 2*half.CDF(float64(min(worse, better))))
}

// Fisher returns the exact two-sided p-value for c1 of n1 and c2 of n2 having the same proportion: the sum over
// all tables that are at most as likely as the observed one.
func Fisher(c1, n1, c2, n2 int) float64 {
	passed := c1 + c2
	low, high := max(0, passed-n2), min(n1, passed)
	observed := tableLog(c1, n1, n2, passed)
	var p float64
	for c := low; c <= high; c++ {
		// Equally likely tables may differ by rounding.
		if l := tableLog(c, n1, n2, passed); l <= observed+1e-7 {
			p += math.Exp(l)
		}
	}
	return min(1, p)
}

// tableLog returns the log probability of c passes among the first n1, given the total number of passes
// (hypergeometric distribution).
func tableLog(c, n1, n2, passed int) float64 {
	return choose(n1, c) + choose(n2, passed-c) - choose(n1+n2, passed)
}

func choose(n, k int) float64 { return combin.LogGeneralizedBinomial(float64(n), float64(k)) }

// Adjust returns p-values adjusted for the false discovery rate (Benjamini and Hochberg 1995): of those below q,
// an expected share of at most q is false.
func Adjust(p []float64) []float64 {
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Or(cmp.Compare(p[a], p[b]), cmp.Compare(a, b)) })
	out := make([]float64, len(p))
	least := 1.0
	for rank, i := range slices.Backward(order) {
		least = min(least, p[i]*float64(len(p))/float64(rank+1))
		out[i] = least
	}
	return out
}
