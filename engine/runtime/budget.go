package runtime

import (
	"fmt"
	"maps"
	"slices"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/stop"
)

// minOutput is the least room for an answer that a call is worth making for, in tokens.
const minOutput = 64

// outputShares is in how many parts the rest of a budget is divided for the output
// of a call without max_output_tokens, so that calls can run side by side.
const outputShares = 4

// budget is the tokens and dollars of a run. Each call reserves its worst case
// before it is made and settles what it used after; so limits hold also while
// calls run side by side. Part of it is kept for the final answer.
type budget struct {
	maxTokens, reserveTokens, tokens, heldTokens int
	maxCost, reserveCost, cost, heldCost         float64
	holds                                        int // reservations that are held
}

// dust is a difference in USD that sums of floats may have.
const dust = 1e-9

// reservation is what one call may cost at worst.
type reservation struct {
	tokens int
	cost   float64
	held   bool
}

func newBudget(l engine.Limits) *budget {
	b := &budget{}
	b.limit(l)
	return b
}

// limit sets what may be used in all.
func (b *budget) limit(l engine.Limits) {
	b.maxTokens, b.maxCost, b.reserveTokens = l.MaxTokens, l.MaxCost, l.ReserveTokens
	if b.maxTokens > 0 && b.reserveTokens == 0 {
		b.reserveTokens = min(2000, b.maxTokens/5)
	}
	b.reserveCost = b.maxCost / 5
}

// on says whether there is anything to keep.
func (b *budget) on() bool { return b.maxTokens > 0 || b.maxCost > 0 }

// open gives the reserve free, for the finalizer.
func (b *budget) open() { b.reserveTokens, b.reserveCost = 0, 0 }

// room is the output tokens a call with that much input can be given at most, and
// the limit that bounds them, "" = none does. What the spec wants stands, except
// for the last answer: a shorter one is better than none. Where the spec wants no
// number, a call gets at most a share of what is left, but model.DefaultOutput if that is more.
func (b *budget) room(input, wanted int, last bool, price *model.Cost) (out int, by string) {
	if wanted != 0 && !last {
		return wanted, ""
	}
	if out = wanted; wanted == 0 {
		out = price.MostOutput()
	}
	bound := func(left, free float64, key string) {
		if !last {
			left = min(left, max(model.DefaultOutput, free/outputShares))
		}
		if left < float64(out) {
			out, by = int(left), key
		}
	}
	if b.maxTokens > 0 {
		left := b.maxTokens - b.tokens - b.reserveTokens - input
		bound(float64(left), float64(left-b.heldTokens), "limits.max_tokens")
	}
	if b.maxCost > 0 && price != nil {
		in, each := price.Dearest(input)
		left := (b.maxCost-b.cost-b.reserveCost)*1e6 - float64(input)*in
		if each > 0 {
			bound(left/each, (left-b.heldCost*1e6)/each, "limits.max_cost")
		}
	}
	return out, by
}

// worst is the reservation of a call: request bytes / 2 as input tokens, and
// all the output it is allowed, at the dearest price that each may have.
func worst(input, output int, price *model.Cost) reservation {
	w := reservation{tokens: input + output}
	if price != nil {
		in, out := price.Dearest(input)
		w.cost = (float64(input)*in + float64(output)*out) / 1e6
	}
	return w
}

// fits says whether w can be reserved now; never says that it cannot even when
// all that is held comes back.
func (b *budget) fits(w reservation) (now, ever bool) {
	tokens := b.maxTokens == 0 || b.tokens+b.heldTokens+b.reserveTokens+w.tokens <= b.maxTokens
	cost := b.maxCost == 0 || b.cost+b.heldCost+b.reserveCost+w.cost <= b.maxCost+dust
	tokensEver := b.maxTokens == 0 || b.tokens+b.reserveTokens+w.tokens <= b.maxTokens
	costEver := b.maxCost == 0 || b.cost+b.reserveCost+w.cost <= b.maxCost+dust
	return tokens && cost, tokensEver && costEver
}

func (b *budget) hold(w reservation) {
	b.holds++
	b.heldTokens += w.tokens
	b.heldCost += w.cost
}

// budgeted says whether calls must be reserved: a nested run draws on its own
// budget and on those of the runs around it.
func (r *run) budgeted() bool {
	for ; r != nil; r = r.parent {
		if r.consumed.on() {
			return true
		}
	}
	return false
}

// room is what the narrowest of the budgets leaves a call for its output.
func (r *run) room(input, wanted int, price *model.Cost) (out int, by string) {
	last := r.closing
	out, by = r.consumed.room(input, wanted, last, price)
	for r = r.parent; r != nil; r = r.parent {
		if n, key := r.consumed.room(input, wanted, last, price); n < out {
			out, by = n, key
		}
	}
	return out, by
}

func (r *run) settle(w, used reservation) (over bool) {
	for ; r != nil; r = r.parent {
		over = r.consumed.settle(w, used)
	}
	return over
}

// hold reserves what size says, which depends on what is left, waiting while
// other branches may give back enough. Where that cannot help, the run whose
// budget it is stops.
func (s *scope) hold(size func() reservation) (reservation, error) {
	for {
		w := size()
		var full *run
		for r := s.r; r != nil; r = r.parent {
			now, ever := r.consumed.fits(w)
			if !ever && r.closing {
				return w, r.consumed.exhausted(w)
			}
			if !ever && s.exhausted(r, w) {
				return w, r.halt(r.consumed.exhausted(w))
			}
			if !now {
				full = r
			}
		}
		if full == nil {
			for r := s.r; r != nil; r = r.parent {
				r.consumed.hold(w)
			}
			w.held = true
			return w, nil
		}
		room := func() bool {
			now, ever := full.consumed.fits(size())
			return now || !ever
		}
		if err := s.Await(room); err != nil {
			return w, err
		}
		if err := s.halted(); err != nil {
			return w, err
		}
	}
}

// exhausted says that a run's budget has no room for w, now and for good.
func (s *scope) exhausted(r *run, w reservation) bool {
	return (&scope{s.k, r}).Exceeded(func(engine.Limits) bool {
		_, ever := r.consumed.fits(w)
		return !ever
	})
}

func (b *budget) exhausted(w reservation) *stop.Error {
	if b.maxTokens > 0 && b.tokens+b.reserveTokens+w.tokens > b.maxTokens {
		return &stop.Error{Reason: stop.Reason{
			Code: stop.BudgetTokens, Path: "limits.max_tokens", Status: stop.RunStopped,
			Message: fmt.Sprintf("%d of %d tokens are used and the next call may need %d", b.tokens, b.maxTokens, w.tokens),
		}}
	}
	return &stop.Error{Reason: stop.Reason{
		Code: stop.BudgetCost, Path: "limits.max_cost", Status: stop.RunStopped,
		Message: fmt.Sprintf("$%.4f of $%.4f is spent and the next call may cost $%.4f", b.cost, b.maxCost, w.cost),
	}}
}

// settle gives the reservation back and books what was used. over says that
// the provider reported more than was reserved.
func (b *budget) settle(w, used reservation) (over bool) {
	b.heldTokens -= w.tokens
	b.heldCost -= w.cost
	if w.held {
		b.holds--
	}
	if b.holds == 0 {
		b.heldCost = 0 // what rounding left would be waited for in vain
	}
	b.tokens += used.tokens
	b.cost += used.cost
	return used.tokens > w.tokens
}

// charges are those of a tree of runs, by the path of the call.
type charges map[string]engine.Charge

// beyond is the sum of those that others do not have.
func (c charges) beyond(others charges) (sum engine.Charge) {
	for _, path := range slices.Sorted(maps.Keys(c)) { // sums of dollars depend on their order
		if _, known := others[path]; !known {
			sum.Tokens += c[path].Tokens
			sum.CostUSD += c[path].CostUSD
		}
	}
	return sum
}
