package stat_test

import (
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/pexctl/pex/eval/stat"
)

// world generates simulated cases: groups of cases with correlated pass probabilities (icc is the correlation),
// and repeats of each case.
type world struct {
	name             string
	groups, size     int // a group has 1 to 2*size-1 cases
	repeats          int
	rate, icc        float64
	wantLow, wantTop float64 // coverage, in percent
}

func (w world) clusters(r *rand.Rand) (cs []stat.Cluster, trials int) {
	k := (1 - w.icc) / w.icc
	beta := distuv.Beta{Alpha: w.rate * k, Beta: (1 - w.rate) * k, Src: r}
	for range w.groups {
		p := beta.Rand()
		var c stat.Cluster
		for range 1 + r.IntN(2*w.size-1) {
			c.Sum += float64(passes(r, w.repeats, p)) / float64(w.repeats)
			c.Weight++
			trials += w.repeats
		}
		cs = append(cs, c)
	}
	return cs, trials
}

func passes(r *rand.Rand, n int, p float64) int {
	c := 0
	for range n {
		if r.Float64() < p {
			c++
		}
	}
	return c
}

// coverage returns how often an interval contains the truth, in percent.
func coverage(n int, truth float64, one func() stat.Interval) float64 {
	covers := 0
	for range n {
		if i := one(); i.Low <= truth && truth <= i.High {
			covers++
		}
	}
	return 100 * float64(covers) / float64(n)
}

// unraced skips computations in a single goroutine under the race detector.
func unraced(t *testing.T) {
	t.Helper()
	if raced {
		t.Skip("too slow under the race detector")
	}
}

func TestRateCovers(t *testing.T) {
	unraced(t)
	for _, w := range []world{
		{"repeated cases", 60, 1, 5, 0.8, 0.4, 93, 97},
		{"few repeated cases", 20, 1, 3, 0.5, 0.2, 93, 97},
		{"rates near one", 100, 1, 3, 0.95, 0.3, 93, 97},
		{"groups", 50, 4, 1, 0.8, 0.3, 93, 97},
		{"groups of repeated cases", 100, 4, 3, 0.7, 0.5, 93, 97},
	} {
		t.Run(w.name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(1, 2))
			got := coverage(4000, w.rate, func() stat.Interval { return stat.Rate(w.clusters(r)) })
			if got < w.wantLow || got > w.wantTop {
				t.Errorf("covers %.1f %%", got)
			}
		})
	}
}

// Wilson without clusters covers too little if cases come in groups, which is why Rate exists.
func TestIgnoringGroupsCoversTooLittle(t *testing.T) {
	w := world{groups: 50, size: 4, repeats: 1, rate: 0.8, icc: 0.5}
	r := rand.New(rand.NewPCG(1, 2))
	got := coverage(2000, w.rate, func() stat.Interval {
		cs, trials := w.clusters(r)
		return stat.Wilson(stat.Mean(cs)*float64(trials), float64(trials))
	})
	if got > 88 {
		t.Errorf("covers %.1f %%: the groups of these simulations have no effect", got)
	}
}

func TestBootstrapCovers(t *testing.T) {
	unraced(t)
	t.Parallel()
	w := world{groups: 50, size: 2, repeats: 3, rate: 0.7, icc: 0.3}
	r := rand.New(rand.NewPCG(3, 4))
	got := coverage(300, w.rate, func() stat.Interval {
		cs, _ := w.clusters(r)
		i, ok := stat.Bootstrap(cs)
		if !ok {
			t.Fatal("no interval")
		}
		return i
	})
	if got < 92 || got > 98 { // 300 rounds: two standard errors are 2.5
		t.Errorf("covers %.1f %%", got)
	}
}

// pairs simulates groups of cases under two versions.
func (w world) pairs(r *rand.Rand, drop float64) []stat.Difference {
	k := (1 - w.icc) / w.icc
	beta := distuv.Beta{Alpha: w.rate * k, Beta: (1 - w.rate) * k, Src: r}
	ds := make([]stat.Difference, w.groups)
	for i := range ds {
		p := beta.Rand()
		for range 1 + r.IntN(2*w.size-1) {
			before, after := passes(r, w.repeats, p), passes(r, w.repeats, p*(1-drop/w.rate))
			ds[i].Add(1, float64(after-before)/float64(w.repeats))
		}
	}
	return ds
}

func TestChangeCovers(t *testing.T) {
	unraced(t)
	for _, c := range []struct {
		world
		drop float64
	}{
		{world{name: "binary, no change", groups: 60, size: 1, repeats: 1, rate: 0.8, icc: 0.4}, 0},
		{world{name: "repeated, a drop", groups: 60, size: 1, repeats: 3, rate: 0.85, icc: 0.4}, 0.05},
		{world{name: "groups, a drop", groups: 40, size: 3, repeats: 1, rate: 0.85, icc: 0.3}, 0.05},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(5, 6))
			got := coverage(300, -c.drop, func() stat.Interval { return stat.Change(c.pairs(r, c.drop)) })
			if got < 92.5 { // 300 rounds: two standard errors are 2.5
				t.Errorf("covers %.1f %%", got)
			}
		})
	}
}

func TestSignFlipFalseAlarmRate(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	alarms := 0
	const rounds = 1000
	for range rounds {
		cs := make([]stat.Cluster, 12)
		for i := range cs {
			cs[i].Sum = r.NormFloat64()
		}
		if stat.SignFlip(cs) <= 0.05 {
			alarms++
		}
	}
	if alarms < rounds*3/100 || alarms > rounds*7/100 {
		t.Errorf("%d alarms in %d", alarms, rounds)
	}
}

// The number of cases that Needed returns suffices in about four of five simulations.
func TestNeededSuffices(t *testing.T) {
	const drop, rate = 0.1, 0.8
	sample := func(r *rand.Rand, n int) stat.Interval {
		var up, down int
		for range n {
			before, after := r.Float64() < rate, r.Float64() < rate-drop
			if before && !after {
				down++
			} else if after && !before {
				up++
			}
		}
		return stat.Tango(float64(up), float64(down), float64(n))
	}
	r := rand.New(rand.NewPCG(9, 10))
	needed, ok := stat.Needed(sample(r, 2000), 2000, -drop, 0.02)
	if ok && needed > 2001 {
		t.Fatalf("2000 cases decide already, needed %d", needed)
	}
	needed, _ = stat.Needed(sample(r, 100), 100, -drop, 0.02)
	found := 0
	for range 1000 {
		if sample(r, needed).High < 0 {
			found++
		}
	}
	if found < 700 || found > 900 {
		t.Errorf("%d cases find the drop %d times in 1000", needed, found)
	}
}
