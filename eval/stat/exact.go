package stat

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/combin"
	"gonum.org/v1/gonum/stat/distuv"
)

// McNemar is the exact two-sided p of paired yes-or-no outcomes, of which worse
// went from yes to no and better from no to yes.
func McNemar(worse, better int) float64 {
	n := worse + better
	if n == 0 {
		return 1
	}
	half := distuv.Binomial{N: float64(n), P: 0.5}
	return min(1, 2*half.CDF(float64(min(worse, better))))
}

// Fisher is the exact two-sided p that c1 of n1 and c2 of n2 come from one
// proportion: the sum over the tables that are no likelier than the one seen.
func Fisher(c1, n1, c2, n2 int) float64 {
	passed := c1 + c2
	low, high := max(0, passed-n2), min(n1, passed)
	seen := tableLog(c1, n1, n2, passed)
	var p float64
	for c := low; c <= high; c++ {
		// Tables that are as likely may differ by rounding.
		if l := tableLog(c, n1, n2, passed); l <= seen+1e-7 {
			p += math.Exp(l)
		}
	}
	return min(1, p)
}

// tableLog is the logarithm of the chance of c passes in the first n1, given
// that there are passed in all (hypergeometric).
func tableLog(c, n1, n2, passed int) float64 {
	return choose(n1, c) + choose(n2, passed-c) - choose(n1+n2, passed)
}

func choose(n, k int) float64 { return combin.LogGeneralizedBinomial(float64(n), float64(k)) }

// Adjust gives p values as Benjamini and Hochberg (1995) adjust them: those
// below q are discoveries of which at most a share q is expected to be false.
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
