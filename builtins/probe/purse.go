package probe

import (
	"sync"

	"github.com/pexctl/pex/engine/model"
)

const (
	mostCost   = 0.01 // USD that asking one llm may cost
	mostOutput = 512  // tokens of a reply; reasoning models think before they speak
	minOutput  = 16   // with fewer a reply says nothing of the llm
	sharers    = 3    // checks that are made side by side
)

// purse is what asking an llm may still cost. The worst case of a call is taken
// out before it, and what is left of that put back. Safe for concurrent use.
type purse struct {
	mu    sync.Mutex
	left  float64
	price *model.Cost // nil = unknown, and then nothing is taken
}

// take pays for the worst case of a call with so many tokens of input: it gives
// how long the reply may be. ok is false when the purse does not hold enough.
func (p *purse) take(input, wanted int) (output int, held float64, ok bool) {
	if wanted <= 0 || wanted > mostOutput {
		wanted = mostOutput
	}
	if p.price == nil {
		return wanted, 0, true
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	share := p.left/sharers - p.price.Of(model.Tokens{Input: input})
	if out := p.price.Output / 1e6; out > 0 && share < out*float64(wanted) {
		wanted = min(wanted, max(int(share/out), 0))
	}
	if share < 0 || wanted < minOutput {
		return 0, 0, false
	}
	held = p.price.Of(model.Tokens{Input: input, Output: wanted})
	p.left -= held
	return wanted, held, true
}

// settle puts back what a call did not cost.
func (p *purse) settle(held, used float64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.left += held - used
}
