package stat

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

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
