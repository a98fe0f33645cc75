package stat

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// Limits of the resampling work. A resample draws as many clusters as there are, up to maxDrawn. Beyond that,
// clusters of few distinct kinds are drawn by their counts, and others are merged into blocks.
const (
	resamples = 10_000
	maxDrawn  = 1_000
	maxKinds  = 16
)

// seeded returns the source of all random numbers.
func seeded() *rand.PCG { return rand.NewPCG(0x7065_7865_7661_6c31, 0x9e37_79b9_7f4a_7c15) }

// Bootstrap returns the interval of the weighted mean by resampling clusters, corrected for bias and skewness
// (BCa, Efron 1987) and widened for few clusters (Hesterberg 2015). Clusters must have a fixed order, such as that of
// the dataset, because neighbours are merged if there are very many. ok is false if all clusters have the same mean,
// so that resampling yields nothing.
func Bootstrap(cs []Cluster) (i Interval, ok bool) {
	m := Mean(cs)
	if len(cs) < 2 || !slices.ContainsFunc(cs, func(c Cluster) bool { return !alike(c.Sum, m*c.Weight) }) {
		return Interval{}, false
	}
	means := resample(cs)
	slices.Sort(means)
	bias, accel := biasOf(means, m), acceleration(cs)
	g := float64(len(cs))
	z := student975(len(cs)-1) * math.Sqrt(g/(g-1))
	at := func(z float64) float64 {
		p := distuv.UnitNormal.CDF(bias + (bias+z)/(1-accel*(bias+z)))
		return stat.Quantile(p, stat.LinInterp, means, nil)
	}
	return Interval{at(-z), at(z)}, true
}

// resample returns the means of all resamples.
func resample(cs []Cluster) []float64 {
	means := make([]float64, resamples)
	if len(cs) > maxDrawn {
		if kinds, counts := kindsOf(cs); kinds != nil {
			resampleKinds(means, kinds, counts)
			return means
		}
		cs = blocks(cs)
	}
	r := seeded()
	for i := range means {
		means[i] = resampleMean(cs, r)
	}
	return means
}

// resampleMean returns the mean of one resample. Each random number selects two clusters.
func resampleMean(cs []Cluster, r *rand.PCG) float64 {
	var sum, weight float64
	var bits uint64
	for i := range cs {
		if bits >>= 32; i%2 == 0 {
			bits = r.Uint64()
		}
		c := &cs[(bits&math.MaxUint32)*uint64(len(cs))>>32]
		sum += c.Sum
		weight += c.Weight
	}
	return sum / weight
}

// kindsOf counts equal clusters. It returns nil if there are more than maxKinds kinds.
func kindsOf(cs []Cluster) (kinds []Cluster, counts []int) {
	found := map[Cluster]int{}
	for _, c := range cs {
		if found[c]++; len(found) > maxKinds {
			return nil, nil
		}
	}
	for c := range found {
		kinds = append(kinds, c)
	}
	slices.SortFunc(kinds, func(a, b Cluster) int {
		return cmp.Or(cmp.Compare(a.Sum, b.Sum), cmp.Compare(a.Weight, b.Weight))
	})
	for _, c := range kinds {
		counts = append(counts, found[c])
	}
	return kinds, counts
}

// resampleKinds draws the number of clusters of each kind, which is equivalent to drawing them one by one.
func resampleKinds(means []float64, kinds []Cluster, counts []int) {
	r := seeded()
	all := 0
	for _, n := range counts {
		all += n
	}
	for i := range means {
		var sum, weight float64
		left, rest := all, all // draws left; clusters of the remaining kinds
		for k, c := range kinds {
			n := float64(left)
			if k < len(kinds)-1 && left > 0 {
				n = distuv.Binomial{N: float64(left), P: float64(counts[k]) / float64(rest), Src: r}.Rand()
			}
			left -= int(n)
			rest -= counts[k]
			sum += n * c.Sum
			weight += n * c.Weight
		}
		means[i] = sum / weight
	}
}

// blocks merges neighbours into at most maxDrawn clusters. Merging preserves independence.
func blocks(cs []Cluster) []Cluster {
	size := (len(cs) + maxDrawn - 1) / maxDrawn
	var out []Cluster
	for part := range slices.Chunk(cs, size) {
		var b Cluster
		for _, c := range part {
			b.Sum += c.Sum
			b.Weight += c.Weight
		}
		out = append(out, b)
	}
	return out
}

// biasOf returns the bias of the resamples relative to the mean, in normal quantiles.
func biasOf(means []float64, m float64) float64 {
	var below float64
	for _, x := range means {
		switch {
		case alike(x, m):
			below += 0.5
		case x < m:
			below++
		}
	}
	z := distuv.UnitNormal.Quantile(below / float64(len(means)))
	if math.IsInf(z, 0) {
		return 0
	}
	return z
}

// acceleration returns the skewness of the mean, estimated by the jackknife.
func acceleration(cs []Cluster) float64 {
	var sum, weight, center float64
	for _, c := range cs {
		sum += c.Sum
		weight += c.Weight
	}
	without := func(c Cluster) float64 {
		if c.Weight == weight {
			return sum / weight
		}
		return (sum - c.Sum) / (weight - c.Weight)
	}
	for _, c := range cs {
		center += without(c) / float64(len(cs))
	}
	var squares, cubes float64
	for _, c := range cs {
		e := center - without(c)
		squares += e * e
		cubes += e * e * e
	}
	if squares == 0 {
		return 0
	}
	return cubes / (6 * math.Pow(squares, 1.5))
}
