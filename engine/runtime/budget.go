package runtime

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/jsonvalue"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/stop"
)

// minOutput is the fewest output tokens worth making a call for.
const minOutput = 64

// outputShares divides the remaining budget among concurrent calls: a call without
// max_output_tokens gets at most this fraction of it.
const outputShares = 4

// budget tracks the tokens and dollars of a run. Each call reserves its worst case before
// it starts and settles its actual usage afterwards, so limits hold for concurrent calls
// too. Part of the budget is reserved for the final answer.
type budget struct {
	maxTokens, reserveTokens, tokens, reservedTokens int
	maxCost, reserveCost, cost, reservedCost         float64
	reservations                                     int // number of open reservations
}

// costEpsilon is the rounding error tolerated in sums of dollars, in USD.
const costEpsilon = 1e-9

// reservation is the worst case of one call.
type reservation struct {
	tokens int
	cost   float64
	held   bool
}

func newBudget(l engine.Limits) *budget {
	b := &budget{}
	b.setLimits(l)
	return b
}

// setLimits sets the totals. Usage and reservations stay as they are.
func (b *budget) setLimits(l engine.Limits) {
	b.maxTokens, b.maxCost, b.reserveTokens = l.MaxTokens, l.MaxCost, l.ReserveTokens
	if b.maxTokens > 0 && b.reserveTokens == 0 {
		b.reserveTokens = min(2000, b.maxTokens/5)
	}
	b.reserveCost = b.maxCost / 5
}

// enabled reports whether any limit is set.
func (b *budget) enabled() bool { return b.maxTokens > 0 || b.maxCost > 0 }

// releaseReserve frees the part reserved for the finalizer.
func (b *budget) releaseReserve() { b.reserveTokens, b.reserveCost = 0, 0 }

// maxOutput returns the most output tokens a call with that much input may use, and the
// limit that determines it ("" = none). The spec's max_output_tokens is used as is,
// except for the final answer: a shorter one is better than none. Without
// max_output_tokens a call gets a share of what is left, but at least
// model.DefaultOutput.
func (b *budget) maxOutput(input, wanted int, last bool, price *model.Cost) (out int, by string) {
	if wanted != 0 && !last {
		return wanted, ""
	}
	if out = wanted; wanted == 0 {
		out = price.OutputCeiling()
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
		bound(float64(left), float64(left-b.reservedTokens), "limits.max_tokens")
	}
	if b.maxCost > 0 && price != nil {
		in, each := price.HighestPrices(input)
		left := (b.maxCost-b.cost-b.reserveCost)*1e6 - float64(input)*in
		if each > 0 {
			bound(left/each, (left-b.reservedCost*1e6)/each, "limits.max_cost")
		}
	}
	return out, by
}

// worstCase returns the reservation of a call: input (request bytes / 2) and output
// tokens, each at its highest price.
func worstCase(input, output int, price *model.Cost) reservation {
	w := reservation{tokens: input + output}
	if price != nil {
		in, out := price.HighestPrices(input)
		w.cost = (float64(input)*in + float64(output)*out) / 1e6
	}
	return w
}

// fits reports whether w can be reserved now, and whether it ever can: ever is false if w
// does not fit even once all open reservations are settled.
func (b *budget) fits(w reservation) (now, ever bool) {
	tokens := b.maxTokens == 0 || b.tokens+b.reservedTokens+b.reserveTokens+w.tokens <= b.maxTokens
	cost := b.maxCost == 0 || b.cost+b.reservedCost+b.reserveCost+w.cost <= b.maxCost+costEpsilon
	tokensEver := b.maxTokens == 0 || b.tokens+b.reserveTokens+w.tokens <= b.maxTokens
	costEver := b.maxCost == 0 || b.cost+b.reserveCost+w.cost <= b.maxCost+costEpsilon
	return tokens && cost, tokensEver && costEver
}

func (b *budget) reserve(w reservation) {
	b.reservations++
	b.reservedTokens += w.tokens
	b.reservedCost += w.cost
}

// budgeted reports whether calls must reserve. A nested run draws on its own budget and
// on those of its parents.
func (r *run) budgeted() bool {
	for ; r != nil; r = r.parent {
		if r.budget.enabled() {
			return true
		}
	}
	return false
}

// maxOutput returns the smallest maxOutput of the run's and its parents' budgets.
func (r *run) maxOutput(input, wanted int, price *model.Cost) (out int, by string) {
	last := r.finalizing
	out, by = r.budget.maxOutput(input, wanted, last, price)
	for r = r.parent; r != nil; r = r.parent {
		if n, key := r.budget.maxOutput(input, wanted, last, price); n < out {
			out, by = n, key
		}
	}
	return out, by
}

func (r *run) settle(w, used reservation) (over bool) {
	for ; r != nil; r = r.parent {
		over = r.budget.settle(w, used)
	}
	return over
}

// awaitReservation reserves size(), which depends on what is left, and waits while calls
// in flight may still release enough. If it can never fit, the run that owns the budget
// stops.
func (s *scope) awaitReservation(size func() reservation) (reservation, error) {
	for {
		w := size()
		var full *run
		for r := s.r; r != nil; r = r.parent {
			now, ever := r.budget.fits(w)
			if !ever && r.finalizing {
				return w, r.budget.exhaustedError(w)
			}
			if !ever && s.budgetExhausted(r, w) {
				return w, r.halt(r.budget.exhaustedError(w))
			}
			if !now {
				full = r
			}
		}
		if full == nil {
			for r := s.r; r != nil; r = r.parent {
				r.budget.reserve(w)
			}
			w.held = true
			return w, nil
		}
		room := func() bool {
			now, ever := full.budget.fits(size())
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

// budgetExhausted reports whether w will never fit the budget of r, even after a limit
// extension.
func (s *scope) budgetExhausted(r *run, w reservation) bool {
	return (&scope{s.k, r}).Exceeded(func(engine.Limits) bool {
		_, ever := r.budget.fits(w)
		return !ever
	})
}

func (b *budget) exhaustedError(w reservation) *stop.Error {
	if b.maxTokens > 0 && b.tokens+b.reserveTokens+w.tokens > b.maxTokens {
		return &stop.Error{Reason: stop.Reason{
			Code: stop.BudgetTokens, Path: "limits.max_tokens", Status: stop.RunStopped,
			Message: fmt.Sprintf("%d of %d tokens are used%s the next call may need %d", b.tokens, b.maxTokens, kept(b.reserveTokens, "%d are"), w.tokens),
		}}
	}
	return &stop.Error{Reason: stop.Reason{
		Code: stop.BudgetCost, Path: "limits.max_cost", Status: stop.RunStopped,
		Message: fmt.Sprintf("$%.4f of $%.4f is spent%s the next call may cost $%.4f", b.cost, b.maxCost, kept(b.reserveCost, "$%.4f is"), w.cost),
	}}
}

// kept returns what a message says about the part reserved for the finalizer, up to
// the next clause.
func kept[N int | float64](n N, format string) string {
	if n == 0 {
		return " and"
	}
	return ", " + fmt.Sprintf(format, n) + " kept for the final answer, and"
}

// settle releases the reservation and adds the actual usage. over reports that the
// provider used more tokens than reserved.
func (b *budget) settle(w, used reservation) (over bool) {
	b.reservedTokens -= w.tokens
	b.reservedCost -= w.cost
	if w.held {
		b.reservations--
	}
	if b.reservations == 0 {
		b.reservedCost = 0 // else a rounding error would block later reservations
	}
	b.tokens += used.tokens
	b.cost += used.cost
	return used.tokens > w.tokens
}

// charges are the charges of a tree of runs, by the path of the call.
type charges map[string]engine.Charge

// sumExcept sums the charges whose paths are not in others.
func (c charges) sumExcept(others charges) (sum engine.Charge) {
	for _, path := range slices.Sorted(maps.Keys(c)) { // a fixed order, because floating-point sums depend on it
		if _, known := others[path]; !known {
			sum.Tokens += c[path].Tokens
			sum.CostUSD += c[path].CostUSD
		}
	}
	return sum
}

// changeBody is the body of a change record.
type changeBody struct {
	Limits engine.Limits                `json:"limits"`
	Set    []string                     `json:"set,omitempty"`
	Spent  map[string]engine.ModelUsage `json:"spent,omitempty"` // usage of the records dropped from here on, by LLM
	Lost   engine.Charge                `json:"lost,omitzero"`   // likewise
}

// Exceeded implements Scope.
func (s *scope) Exceeded(over func(engine.Limits) bool) bool {
	for over(s.r.program.Limits) {
		if s.r.parent != nil || !s.k.ReevaluateLimits() {
			return true
		}
	}
	return false
}

// changeRecord returns the body of the change record of this session.
func (r *run) changeRecord() []byte {
	c := changeBody{Limits: r.opts.Extension.Limits, Set: r.opts.Extension.Set, Spent: map[string]engine.ModelUsage{}, Lost: charges(r.opts.Extension.Lost).sumExcept(r.charges)}
	for name, all := range r.opts.Extension.Spent {
		if rest := all.Minus(r.usageByLLM[name]); rest != (engine.ModelUsage{}) {
			c.Spent[name] = rest
		}
	}
	return jsonvalue.Encode(c)
}

// applyChange applies a change record, new or replayed.
func (r *run) applyChange(body []byte) {
	var c changeBody
	if err := json.Unmarshal(body, &c); err != nil {
		panic(fmt.Sprintf("change record: %v", err)) // the hash chain proves that this package wrote it
	}
	r.emit.rewinds++
	p := *r.program
	p.Limits = c.Limits
	r.program = &p
	r.budget.setLimits(c.Limits)
	r.budget.tokens += c.Lost.Tokens
	r.budget.cost += c.Lost.CostUSD
	for _, name := range slices.Sorted(maps.Keys(c.Spent)) { // a fixed order, because floating-point sums depend on it
		u := c.Spent[name]
		r.state.Usage.ModelCalls += u.ModelCalls
		r.state.Usage.Tokens = r.state.Usage.Tokens.Plus(u.Tokens)
		r.state.Usage.CostUSD += u.CostUSD
		r.state.Usage.LatencyMS += u.LatencyMS
		r.budget.tokens += u.Total()
		r.budget.cost += u.CostUSD
		r.usageByLLM = maps.Clone(r.usageByLLM)
		r.usageByLLM[name] = r.usageByLLM[name].Plus(u)
	}
}

// LimitsNow returns the limits of a run of p, including changes made on resume.
func LimitsNow(p *engine.Program, recs []journal.Record) engine.Limits {
	limits := p.Limits
	for _, rec := range journal.WithoutVoided(recs) {
		var c changeBody
		if rec.Kind == journal.Change && json.Unmarshal(rec.Body, &c) == nil {
			limits = c.Limits
		}
	}
	return limits
}

// Raises returns the limit changes made on resume so far, as the user wrote them, in
// order.
func Raises(recs []journal.Record) []string {
	var out []string
	for _, rec := range journal.WithoutVoided(recs) {
		var c changeBody
		if rec.Kind == journal.Change && json.Unmarshal(rec.Body, &c) == nil {
			out = append(out, c.Set...)
		}
	}
	return out
}
