package stat

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// maxExact is the number of sums up to which all sign combinations are tried.
const maxExact = 16

// wordBits is the number of signs drawn at once.
const wordBits = 64

// SignFlip returns the two-sided p-value of paired differences, given the sum of each cluster: the probability of
// a total at least as far from zero if each cluster's sign is random. It is exact for up to 16 nonzero clusters,
// otherwise based on 10,000 draws.
func SignFlip(cs []Cluster) float64 {
	sums := make([]float64, 0, len(cs))
	var seen float64
	for _, c := range cs {
		if c.Sum != 0 {
			sums = append(sums, c.Sum)
			seen += c.Sum
		}
	}
	if len(sums) == 0 {
		return 1
	}
	seen = math.Abs(seen) * (1 - 1e-12) // the order of summation affects rounding
	switch {
	case len(sums) <= maxExact:
		return flipAll(sums, seen)
	case len(sums) > maxDrawn:
		if p, ok := flipKinds(sums, seen); ok {
			return p
		}
		sums = blockSums(sums)
	}
	return flipSome(sums, seen)
}

// flipAll returns the share of all sign combinations that are at least as extreme.
func flipAll(sums []float64, seen float64) float64 {
	extreme := 0
	for signs := range uint64(1) << len(sums) {
		if math.Abs(flipped(sums, signs)) >= seen {
			extreme++
		}
	}
	return float64(extreme) / float64(uint64(1)<<len(sums))
}

// flipped returns the total of up to 64 sums, negating those whose bit is set.
func flipped(sums []float64, signs uint64) float64 {
	var total float64
	for i, s := range sums {
		total += math.Float64frombits(math.Float64bits(s) ^ (signs>>i&1)<<63)
	}
	return total
}

// flipSome draws signs. It counts the observed combination as a draw, so that p is never 0.
func flipSome(sums []float64, seen float64) float64 {
	r := seeded()
	extreme := 1
	for range resamples {
		var total float64
		for start := 0; start < len(sums); start += wordBits {
			total += flipped(sums[start:min(start+wordBits, len(sums))], r.Uint64())
		}
		if math.Abs(total) >= seen {
			extreme++
		}
	}
	return float64(extreme) / (resamples + 1)
}

// flipKinds draws how many sums of each kind keep their sign.
func flipKinds(sums []float64, seen float64) (p float64, ok bool) {
	sizes := make([]Cluster, len(sums))
	for i, s := range sums {
		sizes[i].Sum = math.Abs(s)
	}
	kinds, counts := kindsOf(sizes)
	if kinds == nil {
		return 0, false
	}
	r := seeded()
	extreme := 1
	for range resamples {
		var total float64
		for k, c := range kinds {
			n := float64(counts[k])
			positive := distuv.Binomial{N: n, P: 0.5, Src: r}.Rand()
			total += c.Sum * (2*positive - n)
		}
		if math.Abs(total) >= seen {
			extreme++
		}
	}
	return float64(extreme) / (resamples + 1), true
}

// blockSums merges neighbours into at most maxDrawn sums.
func blockSums(sums []float64) []float64 {
	cs := make([]Cluster, len(sums))
	for i, s := range sums {
		cs[i].Sum = s
	}
	joined := blocks(cs)
	out := make([]float64, len(joined))
	for i, c := range joined {
		out[i] = c.Sum
	}
	return out
}
