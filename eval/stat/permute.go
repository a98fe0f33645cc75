package stat

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// maxExact is how many sums are flipped in all ways there are.
const maxExact = 16

// wordBits is how many signs are drawn at once.
const wordBits = 64

// SignFlip is the two-sided p of paired differences, given by the sum of each
// cluster: how often a sum as far from zero comes about when the sides of each
// cluster are as likely one way as the other. It is exact for up to 16 clusters
// that differ, else of 10,000 draws.
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
	seen = math.Abs(seen) * (1 - 1e-12) // sums in another order differ by rounding
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

// flipAll is the share of all ways to set the signs that is as extreme.
func flipAll(sums []float64, seen float64) float64 {
	extreme := 0
	for signs := range uint64(1) << len(sums) {
		if math.Abs(flipped(sums, signs)) >= seen {
			extreme++
		}
	}
	return float64(extreme) / float64(uint64(1)<<len(sums))
}

// flipped adds up to 64 sums, those whose bit is set with the other sign.
func flipped(sums []float64, signs uint64) float64 {
	var total float64
	for i, s := range sums {
		total += math.Float64frombits(math.Float64bits(s) ^ (signs>>i&1)<<63)
	}
	return total
}

// flipSome draws signs. The ways seen and drawn are counted with the one that
// came about, so that p is never 0.
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

// flipKinds draws how many of each kind of sum keep their sign.
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
			kept := distuv.Binomial{N: n, P: 0.5, Src: r}.Rand()
			total += c.Sum * (2*kept - n)
		}
		if math.Abs(total) >= seen {
			extreme++
		}
	}
	return float64(extreme) / (resamples + 1), true
}

// blockSums joins neighbours, so that there are at most maxDrawn.
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
