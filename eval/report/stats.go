package report

import (
	"math"
	"slices"
	"strconv"

	"github.com/pexctl/pex/engine/exprenv"
	"github.com/pexctl/pex/eval/stat"
)

// maxTries is the largest k of pass@k and pass^k.
const maxTries = 10

// stats returns the overall statistics. clusters is the number of independent clusters behind the interval, or 0
// if each case is a single independent trial.
func (g *gatherer) stats() (s exprenv.Stats, clusters int) {
	all := part{clusters: make([]stat.Cluster, 0, g.len())}
	groups, variants := make([]part, len(g.groups.list)), make([]part, len(g.variants.list))
	unnamed := slices.Equal(g.variants.list, []string{""})
	for u, t := range g.units() {
		if t.quarantined {
			continue
		}
		all.add(u)
		if !unnamed {
			variants[t.variant].add(u)
		}
		if t.group >= 0 {
			own := u
			own.cluster = -1 // within a group, the cases are independent
			groups[t.group].add(own)
		}
		if t.passed > 0 && t.passed < t.n {
			s.Flaky++
		}
	}
	i := all.interval()
	s.N, s.Passed, s.Failed, s.Errors = all.cases, g.passed, g.failed, all.errors
	s.Trials = g.passed + g.failed + all.errors
	s.PassRate, s.CILow, s.CIHigh = figure(stat.Mean(all.clusters)), figure(i.Low), figure(i.High)
	s.Score = g.meanScore()
	s.Latency = spread(g.latency, g.latencyAll, g.sum(func(t *tally) int64 { return t.latency }), latencyUnit*1000)
	s.Cost = spread(g.cost, g.costAll, g.sum(func(t *tally) int64 { return t.cost }), costUnit)
	s.Tokens = spread(g.tokens, g.tokensAll, g.sum(func(t *tally) int64 { return t.tokens }), 1)
	s.PassAt, s.PassAll = g.tries()
	s.ByGroup, s.ByVariant, s.ByCheck = named(g.groups.list, groups), map[string]exprenv.GroupStats{}, g.byCheck()
	if !unnamed {
		s.ByVariant = named(g.variants.list, variants)
	}
	if !all.plain {
		clusters = len(all.clusters)
	}
	return s, clusters
}

// units iterates over the cases in report order.
func (g *gatherer) units() func(yield func(unit, *tally) bool) {
	return func(yield func(unit, *tally) bool) {
		number, last := int32(-1), ""
		for k, i := range g.order {
			t := g.at(int(i))
			if k == 0 || t.id != last {
				number, last = number+1, t.id
			}
			if !yield(unit{number, t.group, t.weight, int(t.n), int(t.passed), int(t.errors)}, t) {
				return
			}
		}
	}
}

func named(names []string, parts []part) map[string]exprenv.GroupStats {
	out := make(map[string]exprenv.GroupStats, len(names))
	for i, name := range names {
		out[name] = parts[i].stats()
	}
	return out
}

// byCheck returns the pass statistics of each check.
func (g *gatherer) byCheck() map[string]exprenv.GroupStats {
	out := map[string]exprenv.GroupStats{}
	buffer := make([]stat.Cluster, 0, g.len())
	for _, c := range g.checks {
		p := part{clusters: buffer}
		k := 0
		for u := range g.units() {
			m := c.of(int(g.order[k]))
			k++
			u.n, u.c, u.errors = int(m.n), int(m.passed), 0
			p.add(u)
		}
		p.errors = c.errors
		out[c.name] = p.stats()
	}
	return out
}

// meanScore returns the weighted mean of the cases' mean scores.
func (g *gatherer) meanScore() float64 {
	var sum, weight float64
	for _, t := range g.units() {
		if t.n > 0 && !t.quarantined {
			sum += t.weight * t.mean(t.score, scoreUnit)
			weight += t.weight
		}
	}
	if weight == 0 {
		return 0
	}
	return figure(sum / weight)
}

// sum adds up a value over the graded trials of cases that are not quarantined.
func (g *gatherer) sum(of func(*tally) int64) (all int64) {
	for _, chunk := range g.chunks {
		for i := range chunk {
			if !chunk[i].quarantined {
				all += of(&chunk[i])
			}
		}
	}
	return all
}

// tries estimates pass@k and pass^k over the cases with at least k graded trials.
func (g *gatherer) tries() (at, all map[string]float64) {
	at, all = map[string]float64{}, map[string]float64{}
	var sumAt, sumAll, weight [maxTries + 1]float64
	for u, t := range g.units() {
		if t.quarantined {
			continue
		}
		for k := 1; k <= min(u.n, maxTries); k++ {
			pa, _ := stat.PassAt(u.n, u.c, k)
			pl, _ := stat.PassAll(u.n, u.c, k)
			sumAt[k] += u.weight * pa
			sumAll[k] += u.weight * pl
			weight[k] += u.weight
		}
	}
	for k := 1; k <= maxTries && weight[k] > 0; k++ {
		at[strconv.Itoa(k)], all[strconv.Itoa(k)] = figure(sumAt[k]/weight[k]), figure(sumAll[k]/weight[k])
	}
	return at, all
}

// spread returns mean and quantiles over graded trials, and the total over all finished trials. Quantiles use the
// nearest rank. values is sorted in place.
func spread(values []float32, total, graded int64, unit float64) exprenv.Spread {
	s := exprenv.Spread{Total: figure(float64(total) / unit)}
	if len(values) == 0 {
		return s
	}
	slices.Sort(values)
	s.Mean = figure(float64(graded) / unit / float64(len(values)))
	s.P50, s.P95 = quantile(values, 0.5), quantile(values, 0.95)
	return s
}

func quantile(sorted []float32, p float64) float64 {
	i := max(0, int(math.Ceil(p*float64(len(sorted))-1e-9))-1)
	return decimal(sorted[i])
}

// decimal converts to float64 with the shortest decimal representation: 1.2, not 1.2000000476837158.
func decimal(x float32) float64 {
	d, err := strconv.ParseFloat(strconv.FormatFloat(float64(x), 'g', -1, 32), 64)
	if err != nil {
		return float64(x)
	}
	return d
}

// figure rounds to ten decimals, or four for values from 1e5: sums differ in their last bits between machines, and
// a gate for 0.9 must not see 0.8999999999999999.
func figure(x float64) float64 {
	scale := 1e10
	if math.Abs(x) >= 1e5 {
		scale = 1e4
	}
	return math.Round(x*scale) / scale
}
