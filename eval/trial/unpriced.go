package trial

import (
	"github.com/pexctl/pex/engine"
)

// Unpriced lists the llms of a program that took tokens in a run and have no
// price: what the run cost is not known. A price of 0 is one.
func Unpriced(p *engine.Program, u *engine.Usage) []string {
	var out []string
	for i := range p.Models {
		m := &p.Models[i]
		if spent := u.ByModel[m.Name]; m.Cost == nil && spent.Total() > 0 {
			out = append(out, m.Name)
		}
	}
	return out
}
