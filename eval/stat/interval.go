package stat

import (
	"math"

	"gonum.org/v1/gonum/floats/scalar"
	"gonum.org/v1/gonum/stat/distuv"
)

// Interval is a 95 % confidence interval.
type Interval struct{ Low, High float64 }

// z975 is the quantile of the normal distribution that 95 % intervals have.
var z975 = distuv.UnitNormal.Quantile(0.975)

// Wilson is the score interval of a proportion (Wilson 1927; recommended by
// Brown, Cai and DasGupta 2001). Both counts may be fractions: those of an
// effective sample. With n = 0 nothing is known: [0, 1].
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

// Cluster is what belongs together, such as the cases that were made of one
// document, or the trials of one case: only clusters are independent. The mean
// of a cluster is Sum / Weight.
type Cluster struct {
	Weight float64 // of what is in it
	Sum    float64 // of weight times value
}

// Mean is the weighted mean of all; 0 of nothing.
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

// Rate is the interval of the weighted mean of rates between 0 and 1: Wilson's,
// with as many observations as the clusters are worth. That number follows from
// the mean's variance over clusters, with Student's quantile in place of the
// normal one for few of them (Korn and Graubard 1998; Franco, Little, Louis and
// Slud 2019). It is never more than the trials there were; where all clusters
// are alike, and show no variance, it is the number of clusters.
//
// Measured against the bootstrap it covers as well or better, most of all for
// rates near 1 and for few clusters; see the tests.
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

// tiny is where a variance is only the rounding of sums.
const tiny = 1e-15

// effective is the number of equally weighted clusters that give as much
// information as these (Kish).
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

// variance is that of the weighted mean m, by the differences between clusters;
// 0 of fewer than two.
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

// shrink makes a sample smaller by what Student's distribution of so many
// clusters is wider than the normal one.
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

// alike says whether two figures differ by rounding only.
func alike(a, b float64) bool { return scalar.EqualWithinAbsOrRel(a, b, 1e-12, 1e-12) }

// PassAt is the unbiased estimate of pass@k of a case that passed c of n
// trials: the chance that at least one of k trials passes (Chen et al. 2021).
// ok is false where n trials cannot say: k > n.
func PassAt(n, c, k int) (p float64, ok bool) {
	p, ok = PassAll(n, n-c, k)
	return 1 - p, ok
}

// PassAll is the unbiased estimate of pass^k: the chance that all of k trials
// pass, C(c, k) / C(n, k). ok is false where n trials cannot say: k > n.
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

// power is the sum of the normal quantiles of a two-sided test at 5 % that
// finds what is there four times in five.
var power = z975 + distuv.UnitNormal.Quantile(0.8)

// Detectable is the smallest true change that such an interval excludes zero
// for with 80 % power.
func Detectable(i Interval) float64 { return min(1, power*standardError(i)) }

// standardError is the one that an interval stands for.
func standardError(i Interval) float64 { return (i.High - i.Low) / (2 * z975) }

// Needed is how many cases would decide, with 80 % power, whether a change is a
// regression or within margin, if it is as large as it looks in n cases whose
// interval is i. ok is false where no number of cases would: the change is
// none and the margin is none.
func Needed(i Interval, n int, change, margin float64) (cases int, ok bool) {
	away := max(-change, change+margin) // from zero, or from the margin: what is easier to show
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

// maxCases is where more cases are no advice any more.
const maxCases = 10_000_000
