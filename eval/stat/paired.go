package stat

import "math"

// Difference is a cluster of paired differences between -1 and 1. The fields are sums of weight times value; see
// Cluster.
type Difference struct {
	Weight  float64
	Sum     float64 // of the differences
	Size    float64 // of absolute differences
	Squares float64
}

// Add adds one pair to the cluster.
func (d *Difference) Add(weight, difference float64) {
	d.Weight += weight
	d.Sum += weight * difference
	d.Size += weight * math.Abs(difference)
	d.Squares += weight * difference * difference
}

// Change returns the interval of the weighted mean of paired differences: the union of a score interval and a
// bootstrap over clusters. The bootstrap alone is too narrow if few pairs differ, and undefined if none does; the
// score interval alone uses only two moments of the differences. For fewer than two clusters it is [-1, 1].
func Change(ds []Difference) Interval {
	if len(ds) < 2 {
		return Interval{-1, 1}
	}
	cs := Sums(ds)
	score := scoreChange(ds, cs)
	boot, ok := Bootstrap(cs)
	if !ok {
		return score
	}
	return Interval{min(score.Low, boot.Low), max(score.High, boot.High)}
}

// Sums returns the clusters for SignFlip and Mean.
func Sums(ds []Difference) []Cluster {
	cs := make([]Cluster, len(ds))
	for i, d := range ds {
		cs[i] = Cluster{d.Weight, d.Sum}
	}
	return cs
}

// scoreChange returns Tango's interval for paired binary outcomes, with the effective number of pairs (see Rate).
// Differences of rates are treated as steps of one size, the mean step, or 1 if nothing differs.
func scoreChange(ds []Difference, cs []Cluster) Interval {
	var weight, size, squares float64
	for _, d := range ds {
		weight += d.Weight
		size += d.Size
		squares += d.Squares
	}
	if weight == 0 {
		return Interval{-1, 1}
	}
	m, n, step := Mean(cs), effective(cs), 1.0
	size /= weight
	squares /= weight
	if size > 0 {
		step = squares / size
		if v := variance(cs, m); v > tiny && squares-m*m > tiny {
			n = (squares - m*m) / v
		}
	}
	n *= shrink(len(ds))
	differ := size / step
	up, down := n*(differ+m/step)/2, n*(differ-m/step)/2
	t := Tango(max(0, up), max(0, down), n)
	return Interval{t.Low * step, t.High * step}
}

// Tango returns the score interval of the difference of paired proportions (Tango 1998): of n pairs, up changed
// from no to yes and down from yes to no. Counts may be fractional, for effective sample sizes.
func Tango(up, down, n float64) Interval {
	if n <= 0 {
		return Interval{-1, 1}
	}
	d := (up - down) / n
	score := func(delta float64) float64 { return tangoScore(up, down, n, delta) }
	return Interval{
		cross(-1, d, func(x float64) bool { return score(x) > z975 }),
		cross(d, 1, func(x float64) bool { return score(x) > -z975 }),
	}
}

// tangoScore returns the score statistic for a true difference of delta.
func tangoScore(up, down, n, delta float64) float64 {
	a := 2 * n
	b := -up - down + (2*n-up+down)*delta
	c := -down * delta * (1 - delta)
	p := (math.Sqrt(max(0, b*b-4*a*c)) - b) / (2 * a) // maximum likelihood estimate of down under delta
	v := n * (2*p + delta*(1-delta))
	e := up - down - n*delta
	switch {
	case v > 0:
		return e / math.Sqrt(v)
	case e == 0:
		return 0
	}
	return math.Copysign(math.Inf(1), e)
}

// cross returns the point where above changes from true to false.
func cross(low, high float64, above func(float64) bool) float64 {
	for range 60 {
		mid := low + (high-low)/2
		if above(mid) {
			low = mid
		} else {
			high = mid
		}
	}
	return low + (high-low)/2
}
