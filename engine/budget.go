package engine

// minOutput is the least room for an answer that a call is worth making for, in tokens.
const minOutput = 64

// unboundedOutput is the output a call without max_output_tokens is reserved
// (and bounded) to, in tokens (DESIGN section 6).
const unboundedOutput = 4096

// budget is the tokens and dollars of a run. Each call reserves its worst case
// before it is made and settles what it used after; so limits hold also while
// calls run side by side. Part of it is kept for the final answer.
type budget struct {
	maxTokens, reserveTokens, tokens, heldTokens int
	maxCost, reserveCost, cost, heldCost         float64
}

// reservation is what one call may cost at worst.
type reservation struct {
	tokens int
	cost   float64
}

func newBudget(l Limits) *budget {
	b := &budget{maxTokens: l.MaxTokens, maxCost: l.MaxCost, reserveTokens: l.ReserveTokens}
	if b.maxTokens > 0 && b.reserveTokens == 0 {
		b.reserveTokens = min(2000, b.maxTokens/5)
	}
	b.reserveCost = b.maxCost / 5
	return b
}

// on says whether there is anything to keep.
func (b *budget) on() bool { return b.maxTokens > 0 || b.maxCost > 0 }

// open gives the reserve free, for the finalizer.
func (b *budget) open() { b.reserveTokens, b.reserveCost = 0, 0 }

// room is the output tokens a call with that much input can be given at most.
func (b *budget) room(input, wanted int, price *Cost) int {
	out := wanted
	if out == 0 {
		out = unboundedOutput
	}
	if wanted != 0 {
		return out
	}
	if b.maxTokens > 0 {
		out = min(out, b.maxTokens-b.tokens-b.reserveTokens-input)
	}
	if b.maxCost > 0 && price != nil && price.Output > 0 {
		left := b.maxCost - b.cost - b.reserveCost - float64(input)*price.Input/1e6
		out = min(out, int(left*1e6/price.Output))
	}
	return out
}

// worst is the reservation of a call: request bytes / 2 as input tokens, and
// all the output it is allowed.
func worst(input, output int, price *Cost) reservation {
	w := reservation{tokens: input + output}
	if price != nil {
		w.cost = price.of(Tokens{Input: input, Output: output})
	}
	return w
}

// of is the price of a call in USD.
func (c *Cost) of(t Tokens) float64 {
	if c == nil {
		return 0
	}
	cached := c.CachedInput
	if cached == 0 {
		cached = c.Input
	}
	return (float64(t.Input-t.Cached)*c.Input + float64(t.Cached)*cached + float64(t.Output)*c.Output) / 1e6
}

// fits says whether w can be reserved now; never says that it cannot even when
// all that is held comes back.
func (b *budget) fits(w reservation) (now, ever bool) {
	tokens := b.maxTokens == 0 || b.tokens+b.heldTokens+b.reserveTokens+w.tokens <= b.maxTokens
	cost := b.maxCost == 0 || b.cost+b.heldCost+b.reserveCost+w.cost <= b.maxCost
	tokensEver := b.maxTokens == 0 || b.tokens+b.reserveTokens+w.tokens <= b.maxTokens
	costEver := b.maxCost == 0 || b.cost+b.reserveCost+w.cost <= b.maxCost
	return tokens && cost, tokensEver && costEver
}

// reserve holds w, waiting while other branches may give back enough; a
// *StopError says that the limit is reached.
func (b *budget) reserve(s *Scope, w reservation) error {
	for {
		now, ever := b.fits(w)
		if now {
			b.heldTokens += w.tokens
			b.heldCost += w.cost
			return nil
		}
		if !ever {
			return b.exhausted(w)
		}
		tokens, cost := b.heldTokens, b.heldCost
		if err := s.Await(func() bool { return b.heldTokens != tokens || b.heldCost != cost }); err != nil {
			return err
		}
		if err := s.halted(); err != nil {
			return err
		}
	}
}

func (b *budget) exhausted(w reservation) error {
	if b.maxTokens > 0 && b.tokens+b.reserveTokens+w.tokens > b.maxTokens {
		return AtLimit(StopBudgetTokens, "limits.max_tokens",
			"%d of %d tokens are used and the next call may need %d", b.tokens, b.maxTokens, w.tokens)
	}
	return AtLimit(StopBudgetCost, "limits.max_cost",
		"$%.4f of $%.4f is spent and the next call may cost $%.4f", b.cost, b.maxCost, w.cost)
}

// settle gives the reservation back and books what was used. over says that
// the provider reported more than was reserved.
func (b *budget) settle(w, used reservation) (over bool) {
	b.heldTokens -= w.tokens
	b.heldCost -= w.cost
	b.tokens += used.tokens
	b.cost += used.cost
	return used.tokens > w.tokens
}
