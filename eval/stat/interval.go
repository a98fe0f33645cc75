package stat

import (
	"math"

	"gonum.org/v1/gonum/floats/scalar"
	"gonum.org/v1/gonum/stat/distuv"
)

// Interval is a 95 % confidence interval.
type Interval struct{ Low, High float64 }

// z975 is the normal quantile of 95 % intervals.
var z975 = distuv.UnitNormal.Quantile(0.975)

// Wilson returns the score interval of a proportion (Wilson 1927; recommended by Brown, Cai and DasGupta 2001).
// Counts may be fractional, for effective sample sizes. It is [0, 1] for n = 0.
func Wilson(passed, n float64) Interval {
	if n <= 0 {
		return Interval{0, 1}
	}
	z2 := z975 * z975
	p := passed / n
	mid := (passed + z2/2) / (n + z2)
	half := z975 / (n + z2) * math.Sqrt(max(0, p*(1-p))*n+z2/4)
	out := Interval{max(0, mid-half), min(1, mid+half)}
	if passed <= 0 {
		out.Low = 0
	}
	if passed >= n {
		out.High = 1
	}
	return out
}

// Cluster combines dependent observations, such as the cases made from one document, or the trials of one case.
// Only clusters are independent. The mean of a cluster is Sum / Weight.
type Cluster struct {
	Weight float64 // total weight of the observations
	Sum    float64 // sum of weight times value
}

// Mean returns the weighted mean, or 0 without clusters.
func Mean(cs []Cluster) float64 {
	var sum, weight float64
	for _, c := range cs {
		sum += c.Sum
		weight += c.Weight
	}
	if weight == 0 {
		return 0
	}
	return sum / weight
}

// Rate returns the interval of the weighted mean of rates between 0 and 1: Wilson's, with the effective number of
// observations. That number follows from the variance of the mean over clusters, with Student's quantile instead of
// the normal one for few clusters (Korn and Graubard 1998; Franco, Little, Louis and Slud 2019). It never exceeds the
// number of trials. If all clusters are equal and show no variance, it is the number of clusters.
//
// Compared with the bootstrap its coverage is as good or better, especially for rates near 1 and for few clusters;
// see the tests.
func Rate(cs []Cluster, trials int) Interval {
	m := Mean(cs)
	n := effective(cs)
	if n == 0 {
		return Wilson(0, 0)
	}
	if v := variance(cs, m); v > tiny && m > 0 && m < 1 {
		n = m * (1 - m) / v
	}
	n = min(n, float64(trials)) * shrink(len(cs))
	return Wilson(m*n, n)
}

// tiny is the variance below which only rounding errors remain.
const tiny = 1e-15

// effective returns the number of equally weighted clusters with the same information (Kish).
func effective(cs []Cluster) float64 {
	var sum, squares float64
	for _, c := range cs {
		sum += c.Weight
		squares += c.Weight * c.Weight
	}
	if squares == 0 {
		return 0
	}
	return sum * sum / squares
}

// variance returns the variance of the weighted mean m, estimated between clusters, or 0 for fewer than two.
func variance(cs []Cluster, m float64) float64 {
	var weight, squares float64
	for _, c := range cs {
		e := c.Sum - m*c.Weight
		squares += e * e
		weight += c.Weight
	}
	if len(cs) < 2 || weight == 0 {
		return 0
	}
	g := float64(len(cs))
	return g / (g - 1) * squares / (weight * weight)
}

// shrink returns the factor by which a sample counts as smaller because Student's distribution is wider than the
// normal one.
func shrink(clusters int) float64 {
	if clusters < 2 {
		return 1
	}
	t := student975(clusters - 1)
	return (z975 / t) * (z975 / t)
}

func student975(freedom int) float64 {
	return distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(freedom)}.Quantile(0.975)
}

// alike reports whether two values differ only by rounding.
func alike(a, b float64) bool { return scalar.EqualWithinAbsOrRel(a, b, 1e-12, 1e-12) }

// PassAt returns the unbiased estimate of pass@k of a case that passed c of n trials: the probability that at
// least one of k trials passes (Chen et al. 2021). ok is false if k > n.
func PassAt(n, c, k int) (p float64, ok bool) {
	p, ok = PassAll(n, n-c, k)
	return 1 - p, ok
}

// PassAll returns the unbiased estimate of pass^k: the probability that all of k trials pass, C(c, k) / C(n, k).
// ok is false if k > n.
func PassAll(n, c, k int) (p float64, ok bool) {
	if k < 1 || k > n || c < 0 || c > n {
		return 0, false
	}
	p = 1
	for i := range k {
		p *= float64(max(c-i, 0)) / float64(n-i)
	}
	return p, true
}

// power is the sum of the normal quantiles for a two-sided 5 % test with 80 % power.
var power = z975 + distuv.UnitNormal.Quantile(0.8)

// Detectable returns the smallest true change that an interval of this width detects with 80 % power.
func Detectable(i Interval) float64 { return min(1, power*standardError(i)) }

// standardError returns the standard error of an interval.
func standardError(i Interval) float64 { return (i.High - i.Low) / (2 * z975) }

// Needed returns the number of cases that would decide, with 80 % power, whether a change is a regression or
// within margin, if its true value is the one observed in n cases with interval i. ok is false if no number of cases
// suffices, because change and margin are both zero.
func Needed(i Interval, n int, change, margin float64) (cases int, ok bool) {
	away := max(-change, change+margin) // distance from zero or from the margin, whichever is easier to show
	if change >= 0 {
		away = change + margin
	}
	if away <= 1e-9 || n == 0 {
		return 0, false
	}
	f := power * standardError(i) / away
	cases = int(math.Ceil(float64(n) * f * f))
	return max(cases, n+1), cases < maxCases
}

// maxCases is the number of cases above which Needed reports no result.
const maxCases = 10_000_000
