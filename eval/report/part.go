package report

import (
	"github.com/pexctl/pex/engine/exprenv"
	"github.com/pexctl/pex/eval/stat"
)

// part accumulates the statistics of cases that are reported together: all cases, a group, a variant, or one check
// over all cases.
type part struct {
	clusters []stat.Cluster
	numbers  map[int32]int // index of a group's cluster
	cases    int
	graded   int // trials
	passed   int // graded trials that passed
	errors   int
	last     int32 // number of the case added last
	plain    bool  // one trial per case, equal weights, no clusters
	weight   float64
}

// unit is one case under one variant.
type unit struct {
	number  int32 // of the case, the same for each variant
	cluster int32 // of the group; negative = the case is its own cluster
	weight  float64
	n, c    int
	errors  int
}

// add adds a unit. The units of a case must be consecutive.
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

// clusterOf returns the index of a unit's cluster, which it creates if needed.
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

// interval returns the confidence interval of the mean rate.
func (p *part) interval() stat.Interval {
	if p.plain {
		return stat.Wilson(float64(p.passed), float64(p.graded))
	}
	return stat.Rate(p.clusters, p.graded)
}

// stats returns the statistics of the part.
func (p *part) stats() exprenv.GroupStats {
	i := p.interval()
	return exprenv.GroupStats{
		N: p.cases, Trials: p.graded + p.errors, Passed: p.passed, Errors: p.errors,
		PassRate: figure(stat.Mean(p.clusters)), CILow: figure(i.Low), CIHigh: figure(i.High),
	}
}

// setRates sets the fields that derive from a case's counts.
func setRates(c *exprenv.Case) {
	c.PassRate = 0
	if c.N > 0 {
		c.PassRate = float64(c.Passed) / float64(c.N)
	}
	i := stat.Wilson(float64(c.Passed), float64(c.N))
	c.CILow, c.CIHigh = figure(i.Low), figure(i.High)
	c.Flaky = c.Passed > 0 && c.Passed < c.N
}
