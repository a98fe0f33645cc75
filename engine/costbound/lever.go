package costbound

import (
	"cmp"
	"math"
	"slices"
)

// Lever is a line of a spec that contributes to the worst case.
type Lever struct {
	Path  string  `json:"path"`            // in the spec that is run
	Agent string  `json:"agent,omitempty"` // or in this nested agent
	Share float64 `json:"share"`           // share of the total cost, or of calls if the cost is unknown, in parts that it multiplies
}

// levers returns the paths that multiply something, by descending share.
func levers(parts []Part) []Lever {
	weigh := func(p *Part) Money { return p.Cost }
	if slices.ContainsFunc(parts, func(p Part) bool { return !p.Cost.Known() }) || all(parts, weigh) == 0 {
		weigh = func(p *Part) Money { return Money{Most: float64(p.Calls.Most)} }
	}
	whole := all(parts, weigh)
	out := []Lever{}
	for i := range parts {
		p := &parts[i]
		for _, line := range p.lines() {
			at := slices.IndexFunc(out, func(l Lever) bool { return l.Path == line.Path && l.Agent == line.Agent })
			if at < 0 {
				at = len(out)
				out = append(out, line)
			}
			out[at].Share += weigh(p).Most / max(whole, math.SmallestNonzeroFloat64)
		}
	}
	slices.SortStableFunc(out, func(a, b Lever) int { return cmp.Compare(b.Share, a.Share) })
	return out
}

func all(parts []Part, weigh func(*Part) Money) float64 {
	sum := 0.0
	for i := range parts {
		sum += weigh(&parts[i]).Most
	}
	return sum
}

// lines returns the distinct lines that factors greater than one depend on.
func (p *Part) lines() []Lever {
	var out []Lever
	for _, f := range p.factors {
		for _, path := range f.Paths {
			if l := (Lever{Path: path, Agent: f.agent}); f.N > 1 && !slices.Contains(out, l) {
				out = append(out, l)
			}
		}
	}
	return out
}
