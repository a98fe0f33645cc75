package worstcase

import (
	"cmp"
	"math"
	"slices"
)

// Lever is a line of a spec that makes the worst case what it is.
type Lever struct {
	Path  string  `json:"path"`            // of the spec that is run,
	Agent string  `json:"agent,omitempty"` // or of this agent within it
	Share float64 `json:"share"`           // of what the total costs, or has of calls where that is not known: what lies in parts that it multiplies
}

// levers are the paths that multiply something, those of the largest share first.
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

// lines are those that factors of more than one depend on, each once.
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
