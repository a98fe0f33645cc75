package report

import (
	"github.com/pexctl/pex/engine/exprenv"
	"github.com/pexctl/pex/eval/stat"
)

// part adds up cases that are looked at together: all, a group, a variant, or
// what one check says of all.
type part struct {
	clusters []stat.Cluster
	numbers  map[int32]int // of the clusters of groups
	cases    int
	graded   int // trials
	passed   int // of them
	errors   int
	last     int32 // the case added last
	plain    bool  // one trial each, equal weights, nothing belongs together
	weight   float64
}

// unit is a case under a variant, as a part takes it in.
type unit struct {
	number  int32 // of the case: the same under each variant
	cluster int32 // what it belongs to; negative = only to its own case
	weight  float64
	n, c    int
	errors  int
}

// add takes in a unit. The units of a case come one after the other.
func (p *part) add(u unit) {
	p.errors += u.errors
	if u.n == 0 {
		return
	}
	if p.cases == 0 {
		p.plain, p.weight, p.last = true, u.weight, -1
	}
	another := u.number != p.last
	if another {
		p.cases++
		p.last = u.number
	}
	p.graded += u.n
	p.passed += u.c
	k, joins := p.clusterOf(u, another)
	if joins || u.n != 1 || u.weight != p.weight {
		p.plain = false
	}
	p.clusters[k].Weight += u.weight
	p.clusters[k].Sum += u.weight * float64(u.c) / float64(u.n)
}

// clusterOf finds the cluster that a unit joins, or begins one.
func (p *part) clusterOf(u unit, another bool) (k int, joins bool) {
	if u.cluster < 0 {
		if !another {
			return len(p.clusters) - 1, true
		}
		p.clusters = append(p.clusters, stat.Cluster{})
		return len(p.clusters) - 1, false
	}
	if k, ok := p.numbers[u.cluster]; ok {
		return k, true
	}
	if p.numbers == nil {
		p.numbers = map[int32]int{}
	}
	p.numbers[u.cluster] = len(p.clusters)
	p.clusters = append(p.clusters, stat.Cluster{})
	return len(p.clusters) - 1, false
}

// interval is that of the mean rate.
func (p *part) interval() stat.Interval {
	if p.plain {
		return stat.Wilson(float64(p.passed), float64(p.graded))
	}
	return stat.Rate(p.clusters, p.graded)
}

// stats is what a part comes to.
func (p *part) stats() exprenv.GroupStats {
	i := p.interval()
	return exprenv.GroupStats{
		N: p.cases, Trials: p.graded + p.errors, Passed: p.passed, Errors: p.errors,
		PassRate: figure(stat.Mean(p.clusters)), CILow: figure(i.Low), CIHigh: figure(i.High),
	}
}

// rated fills in the figures that follow from a case's counts.
func rated(c *exprenv.Case) {
	c.PassRate = 0
	if c.N > 0 {
		c.PassRate = float64(c.Passed) / float64(c.N)
	}
	i := stat.Wilson(float64(c.Passed), float64(c.N))
	c.CILow, c.CIHigh = figure(i.Low), figure(i.High)
	c.Flaky = c.Passed > 0 && c.Passed < c.N
}
