package stat

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// The work of drawing again is bounded: a resample draws as many clusters as
// there are, at most maxDrawn; more of them are drawn by how often each of few
// kinds comes, or are joined to blocks.
const (
	resamples = 10_000
	maxDrawn  = 1_000
	maxKinds  = 16
)

// seeded is the source of all that is drawn.
func seeded() *rand.PCG { return rand.NewPCG(0x7065_7865_7661_6c31, 0x9e37_79b9_7f4a_7c15) }

// Bootstrap is the interval of the weighted mean by drawing clusters again,
// corrected for bias and skewness (BCa, Efron 1987) and widened for few clusters
// (Hesterberg 2015). Clusters are to come in an order of their own, such as
// that of the dataset: of very many, neighbours are joined. ok is false where
// drawing again says nothing: all clusters have the same mean.
func Bootstrap(cs []Cluster) (i Interval, ok bool) {
	m := Mean(cs)
	if len(cs) < 2 || !slices.ContainsFunc(cs, func(c Cluster) bool { return !alike(c.Sum, m*c.Weight) }) {
		return Interval{}, false
	}
	means := redraw(cs)
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

// redraw makes the means of all resamples.
func redraw(cs []Cluster) []float64 {
	means := make([]float64, resamples)
	if len(cs) > maxDrawn {
		if kinds, counts := kindsOf(cs); kinds != nil {
			redrawKinds(means, kinds, counts)
			return means
		}
		cs = blocks(cs)
	}
	r := seeded()
	for i := range means {
		means[i] = redrawn(cs, r)
	}
	return means
}

// redrawn is the mean of one resample. A number drawn chooses two clusters.
func redrawn(cs []Cluster, r *rand.PCG) float64 {
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

// kindsOf counts clusters that are the same; nil where there are many kinds.
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

// redrawKinds draws how often each kind comes: what drawing one by one comes to.
func redrawKinds(means []float64, kinds []Cluster, counts []int) {
	r := seeded()
	all := 0
	for _, n := range counts {
		all += n
	}
	for i := range means {
		var sum, weight float64
		left, rest := all, all // draws to go; clusters of the kinds to come
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

// blocks joins neighbours, so that there are at most maxDrawn. What is
// independent stays so when it is joined.
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

// biasOf is how far the resamples lie to one side of the mean, in normal
// quantiles.
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

// acceleration is the skewness of the mean, by leaving out each cluster.
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
