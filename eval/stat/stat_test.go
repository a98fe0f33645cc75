package stat_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/eval/stat"
)

func TestRateOfFewCases(t *testing.T) {
	alike := func(n int, rate float64) []stat.Cluster {
		return slices.Repeat([]stat.Cluster{{Weight: 1, Sum: rate}}, n)
	}
	for _, c := range []struct {
		name      string
		cs        []stat.Cluster
		trials    int
		low, high float64 // the interval lies within [low, high] ...
		reach     float64 // ... and is at least as wide
	}{
		{"nothing", nil, 0, 0, 1, 1},
		{"no weight", []stat.Cluster{{}, {}}, 5, 0, 1, 1},
		{"one cluster that always passes", alike(1, 1), 5, 0, 1, 0.7},
		{"twenty that always pass", alike(20, 1), 100, 0.8, 1, 0.15},
		{"twenty that never pass", alike(20, 0), 100, 0, 0.2, 0.15},
		{"all alike at a half", alike(20, 0.5), 40, 0.25, 0.75, 0.4},
		{"no more than the trials", append(alike(19, 0.8), stat.Cluster{Weight: 1, Sum: 0.6}), 100, 0.6, 0.95, 0.15},
		{"one heavy among light ones", append(alike(50, 1), stat.Cluster{Weight: 1000, Sum: 1000}), 51, 0, 1, 0.7},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := stat.Rate(c.cs, c.trials)
			if math.IsNaN(got.Low+got.High) || got.Low < c.low || got.High > c.high || got.High-got.Low < c.reach {
				t.Errorf("got [%g, %g]", got.Low, got.High)
			}
		})
	}
}

func TestRateOfSingleTrialsIsAlmostWilson(t *testing.T) {
	var cs []stat.Cluster
	for i := range 100 {
		c := stat.Cluster{Weight: 1}
		if i%5 != 0 {
			c.Sum = 1
		}
		cs = append(cs, c)
	}
	want := stat.Wilson(80, 100)
	interval(t, stat.Rate(cs, 100), want.Low, want.High, 0.005)
}

// differences returns one cluster per value.
func differences(values ...float64) []stat.Difference {
	ds := make([]stat.Difference, len(values))
	for i, v := range values {
		ds[i].Add(1, v)
	}
	return ds
}

func TestChangeOfFewPairs(t *testing.T) {
	for _, c := range []struct {
		name      string
		ds        []stat.Difference
		low, high float64
		reach     float64
	}{
		{"nothing", nil, -1, 1, 2},
		{"one pair", differences(-1), -1, 1, 2},
		{"no weight", make([]stat.Difference, 5), -1, 1, 2},
		{"twenty pairs without a change", differences(make([]float64, 20)...), -0.2, 0.2, 0.3},
		{"all worse", differences(slices.Repeat([]float64{-1}, 20)...), -1, -0.6, 0.1},
		{"all worse but one", differences(append(slices.Repeat([]float64{-1}, 19), 1)...), -1, -0.3, 0.1},
		{"all better but one", differences(append(slices.Repeat([]float64{1}, 19), -1)...), 0.3, 1, 0.1},
		{"one of a hundred a little better", differences(append(make([]float64, 99), 0.2)...), -0.02, 0.03, 0.005},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := stat.Change(c.ds)
			if math.IsNaN(got.Low+got.High) || got.Low < c.low || got.High > c.high || got.High-got.Low < c.reach {
				t.Errorf("got [%g, %g]", got.Low, got.High)
			}
		})
	}
}

func TestBootstrapOfEqualClusters(t *testing.T) {
	for _, cs := range [][]stat.Cluster{
		nil,
		{{Weight: 1, Sum: 0.5}},
		{{Weight: 1, Sum: 0.3}, {Weight: 2, Sum: 0.6}, {Weight: 3, Sum: 0.9}},
	} {
		if i, ok := stat.Bootstrap(cs); ok {
			t.Errorf("%v has interval %v", cs, i)
		}
	}
}

// many returns more clusters than are drawn one by one.
func many(n int, value func(i int) float64) []stat.Cluster {
	cs := make([]stat.Cluster, n)
	for i := range cs {
		cs[i] = stat.Cluster{Weight: 1, Sum: value(i)}
	}
	return cs
}

// Few kinds are drawn by their counts, many kinds in blocks: both must agree with the normal approximation for so
// many clusters.
func TestBootstrapOfManyClusters(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, c := range []struct {
		name  string
		value func(i int) float64
	}{
		{"of few kinds", func(int) float64 { return float64(r.IntN(4)) / 3 }},
		{"of many kinds", func(int) float64 { return r.Float64() }},
	} {
		t.Run(c.name, func(t *testing.T) {
			cs := many(20_000, c.value)
			m := stat.Mean(cs)
			var squares float64
			for _, c := range cs {
				squares += (c.Sum - m) * (c.Sum - m)
			}
			half := 1.96 * math.Sqrt(squares) / float64(len(cs))
			got, ok := stat.Bootstrap(cs)
			if !ok {
				t.Fatal("no interval")
			}
			interval(t, got, m-half, m+half, half/10)
		})
	}
}

// With more clusters than can be drawn, no more neighbours are merged than necessary: merging pairs with equal
// sums would leave no variance.
func TestBootstrapMergesFewNeighbours(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	value := 0.0
	mirrored := func(i int) float64 {
		if i%2 == 0 {
			value = r.Float64()
		} else {
			value = 1 - value
		}
		return value
	}
	for n, pairs := range map[int]bool{1000: false, 1500: true, 2000: true, 2500: false} {
		got, ok := stat.Bootstrap(many(n, mirrored))
		if !ok || (got.High-got.Low < 1e-9) != pairs {
			t.Errorf("%d clusters: [%g, %g] %v, want pairs joined: %v", n, got.Low, got.High, ok, pairs)
		}
	}
}

func TestSignFlipOfMany(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	for _, c := range []struct {
		name  string
		n     int
		value func(i int) float64
		low   float64
		high  float64
	}{
		{"none differs", 100, func(int) float64 { return 0 }, 1, 1},
		{"some, evenly", 100, func(i int) float64 { return float64(i%2*2 - 1) }, 0.9, 1},
		{"some, all one way", 100, func(int) float64 { return -0.2 }, 0, 0.001},
		{"many of few kinds, evenly", 5000, func(i int) float64 { return float64(i%2*2 - 1) }, 0.9, 1},
		{"many of few kinds, one way", 5000, func(i int) float64 { return 0.5 - float64(i%3) }, 0, 0.001},
		{"many of many kinds", 5000, func(int) float64 { return r.Float64() - 0.45 }, 0, 0.001},
	} {
		t.Run(c.name, func(t *testing.T) {
			if p := stat.SignFlip(many(c.n, c.value)); p < c.low || p > c.high {
				t.Errorf("p = %g", p)
			}
		})
	}
}

func TestResultsAreReproducible(t *testing.T) {
	one := func() []float64 {
		r := rand.New(rand.NewPCG(4, 4))
		cs := many(3000, func(int) float64 { return r.Float64() - 0.4 })
		i, _ := stat.Bootstrap(cs)
		k, _ := stat.Bootstrap(many(3000, func(i int) float64 { return float64(i % 5) }))
		return []float64{i.Low, i.High, k.Low, k.High, stat.SignFlip(cs[:100])}
	}
	if diff := cmp.Diff(one(), one()); diff != "" {
		t.Error(diff)
	}
}

func TestNeeded(t *testing.T) {
	for _, c := range []struct {
		name           string
		i              stat.Interval
		n              int
		change, margin float64
		want           int // 0 = no number of cases would decide
	}{
		{"no change, margin of two points", stat.Interval{Low: -0.05, High: 0.05}, 100, 0, 0.02, 1278},
		{"a drop of ten points", stat.Interval{Low: -0.22, High: 0.02}, 50, -0.1, 0.02, 148},
		{"no change, no margin", stat.Interval{Low: -0.05, High: 0.05}, 100, 0, 0, 0},
		{"better already", stat.Interval{Low: -0.03, High: 0.2}, 30, 0.1, 0.02, 57},
		{"no cases", stat.Interval{Low: -1, High: 1}, 0, 0, 0.02, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, ok := stat.Needed(c.i, c.n, c.change, c.margin)
			if ok != (c.want > 0) || ok && got != c.want {
				t.Errorf("got %d, %v", got, ok)
			}
		})
	}
	near(t, "detectable", stat.Detectable(stat.Interval{Low: -0.1, High: 0.1}), 2.8016*0.1/1.96, 1e-4)
}

func BenchmarkBootstrap(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, c := range []struct {
		name string
		cs   []stat.Cluster
	}{
		{"50000 of 6 kinds", many(50_000, func(int) float64 { return float64(r.IntN(6)) / 5 })},
		{"50000 of many kinds", many(50_000, func(int) float64 { return r.Float64() })},
		{"2000", many(2000, func(int) float64 { return r.Float64() })},
	} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				stat.Bootstrap(c.cs)
			}
		})
	}
}
