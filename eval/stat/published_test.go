package stat_test

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/stat/combin"

	"github.com/pexctl/pex/eval/stat"
)

func near(t *testing.T, what string, got, want, within float64) {
	t.Helper()
	if math.IsNaN(got) || math.Abs(got-want) > within {
		t.Errorf("%s = %.6g, want %.6g", what, got, want)
	}
}

func interval(t *testing.T, got stat.Interval, low, high, within float64) {
	t.Helper()
	near(t, "low", got.Low, low, within)
	near(t, "high", got.High, high, within)
}

// Newcombe 1998, Statistics in Medicine 17:857-872, table I, method 3.
func TestWilsonMatchesNewcombe(t *testing.T) {
	for _, c := range []struct {
		name              string
		passed, n         float64
		wantLow, wantHigh float64
	}{
		{"81 of 263", 81, 263, 0.2553, 0.3662},
		{"15 of 148", 15, 148, 0.0624, 0.1605},
		{"0 of 20", 0, 20, 0, 0.1611},
		{"1 of 29", 1, 29, 0.0061, 0.1718},
		{"all of 20 is the mirror of none", 20, 20, 1 - 0.1611, 1},
		{"nothing", 0, 0, 0, 1},
	} {
		t.Run(c.name, func(t *testing.T) { interval(t, stat.Wilson(c.passed, c.n), c.wantLow, c.wantHigh, 5e-5) })
	}
}

// Airway reactivity before and after stem cell transplantation, in Fagerland, Lydersen and Laake 2013 (BMC Medical
// Research Methodology 13:91) and 2014 (Statistics in Medicine 33:2850-2875): of 21 pairs, 7 changed in one direction
// and 1 in the other.
func TestPairedTestsMatchFagerland(t *testing.T) {
	interval(t, stat.Tango(1, 7, 21), -0.517, -0.026, 5e-4)
	near(t, "McNemar", stat.McNemar(7, 1), 0.0703, 5e-5)
	near(t, "McNemar the other way", stat.McNemar(1, 7), 0.0703, 5e-5)
}

// The interval changes little with the counts, even where the likelihood equation has a double root that rounding
// could remove.
func TestTangoIsContinuous(t *testing.T) {
	for _, c := range []struct{ down, n float64 }{{4.753049234040367, 30}, {25.24695076595947, 30}, {42.07825127659907, 50}, {69.80087884552862, 75}} {
		want := stat.Tango(0, c.down+1e-6, c.n)
		interval(t, stat.Tango(0, c.down, c.n), want.Low, want.High, 1e-5)
	}
}

func TestMcNemarOfNoChange(t *testing.T) {
	near(t, "none", stat.McNemar(0, 0), 1, 0)
	near(t, "as many both ways", stat.McNemar(5, 5), 1, 0)
	near(t, "six to none", stat.McNemar(6, 0), 2.0/64, 1e-12)
}

func TestFisherMatchesPublishedValues(t *testing.T) {
	for _, c := range []struct {
		name           string
		c1, n1, c2, n2 int
		want           float64
	}{
		{"lady tasting tea (Fisher 1935; Agresti 2002, 3.5.2)", 3, 4, 1, 4, 0.4857},
		{"convicted twins (Fisher 1962)", 2, 12, 15, 18, 0.0005367},
		{"same", 5, 10, 5, 10, 1},
		{"no trials", 0, 0, 3, 4, 1},
		{"opposite", 5, 5, 0, 5, 2.0 / 252},
	} {
		t.Run(c.name, func(t *testing.T) {
			near(t, "p", stat.Fisher(c.c1, c.n1, c.c2, c.n2), c.want, 5e-5*max(c.want, 1e-3)*20)
		})
	}
}

// Benjamini and Hochberg 1995, section 4.1: thrombolysis, 15 hypotheses. At 5 % the procedure rejects the four
// with the smallest p-values.
func TestAdjustMatchesBenjaminiAndHochberg(t *testing.T) {
	p := []float64{
		0.0459, 0.0001, 0.0298, 1, 0.0095, 0.0019, 0.4262, 0.0201, 0.6528, 0.0004, 0.0278, 0.0344, 0.5719, 0.3240, 0.7590,
	}
	adjusted := stat.Adjust(p)
	for i := range p {
		if got, want := adjusted[i] < 0.05, p[i] <= 0.0095; got != want {
			t.Errorf("p = %g is adjusted to %g", p[i], adjusted[i])
		}
	}
	near(t, "the fourth", adjusted[4], 0.0095*15/4, 1e-12)
	near(t, "the largest", adjusted[3], 1, 0)
	if got := stat.Adjust(nil); len(got) != 0 {
		t.Errorf("of none: %v", got)
	}
}

// Chen et al. 2021 (arXiv:2107.03374), figure 3: their implementation of the estimate.
func TestPassAtMatchesChen(t *testing.T) {
	chen := func(n, c, k int) float64 {
		if n-c < k {
			return 1
		}
		p := 1.0
		for i := n - c + 1; i <= n; i++ {
			p *= 1 - float64(k)/float64(i)
		}
		return 1 - p
	}
	for n := 1; n <= 12; n++ {
		for c := 0; c <= n; c++ {
			for k := 1; k <= n; k++ {
				got, ok := stat.PassAt(n, c, k)
				if !ok {
					t.Fatalf("pass@%d of %d/%d is refused", k, c, n)
				}
				near(t, "pass@k", got, chen(n, c, k), 1e-12)
				all, _ := stat.PassAll(n, c, k)
				want := 0.0
				if c >= k {
					want = float64(combin.Binomial(c, k)) / float64(combin.Binomial(n, k))
				}
				near(t, "pass^k", all, want, 1e-12)
			}
		}
	}
	if p, _ := stat.PassAll(10, 9, 4); math.Abs(p-0.6) > 1e-12 { // the plug-in estimate would be 0.656
		t.Errorf("pass^4 of 9/10 = %g", p)
	}
}

func TestPassAtRejectsMoreThanN(t *testing.T) {
	for _, c := range [][3]int{{3, 1, 4}, {0, 0, 1}, {3, 1, 0}, {3, 4, 1}} {
		if p, ok := stat.PassAt(c[0], c[1], c[2]); ok {
			t.Errorf("pass@%d of %d/%d is %g", c[2], c[1], c[0], p)
		}
	}
}

// Darwin's maize, in Fisher 1935 (The Design of Experiments, section 21): of the 2^15 sign combinations, 863 have
// a sum of at least 314 eighths of an inch.
func TestSignFlipMatchesFisher(t *testing.T) {
	var cs []stat.Cluster
	for _, d := range []float64{49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48} {
		cs = append(cs, stat.Cluster{Weight: 1, Sum: d})
	}
	near(t, "p", stat.SignFlip(cs), 2*863.0/32768, 1e-12)
}
