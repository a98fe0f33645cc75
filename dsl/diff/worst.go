package diff

import "github.com/pexctl/pex/engine/costbound"

// worstCase compares the worst case of a run. It returns nil if it is unchanged or
// unknown.
func (c *comparison) worstCase() *WorstCase {
	var w WorstCase
	if c.old.program != nil {
		w.before(c.old.estimate.Limited)
	}
	if c.now.program != nil {
		w.now(c.now.estimate.Limited)
	}
	if !w.Calls.Changed() && !w.Tokens.Changed() && !w.Cost.Changed() {
		return nil
	}
	return &w
}

func (w *WorstCase) before(t costbound.Totals) {
	w.Calls.Old, w.Tokens.Old, w.Cost.Old = &t.Calls, &t.Tokens, &t.Cost
}

func (w *WorstCase) now(t costbound.Totals) {
	w.Calls.New, w.Tokens.New, w.Cost.New = &t.Calls, &t.Tokens, &t.Cost
}
