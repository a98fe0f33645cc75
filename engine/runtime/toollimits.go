package runtime

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/breaker"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/kernel"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/engine/tool"
)

// metered performs a part of the call, and pays for what the tool asks of an llm
// meanwhile: for vectors of so many tokens, or of its arguments where that is 0.
// Under a budget a part is performed once: where it is not known what a session
// took that had begun it, all that it may have taken is paid for, and it is
// performed anew, without what was granted: less of it may be wanted by now.
func (c *toolRun) metered(name string, said []exchange, granted int) (attempted, error) {
	if c.tool.billed() == "" {
		return kernel.Do(c.s.k, c.effect(name, said, 0))
	}
	if granted > 0 {
		root := c.s.r.root()
		root.granted = true
		defer func() { root.granted = false }()
	}
	for n := 1; ; n++ {
		allowed := cmp.Or(granted, vectorTokens(len(c.rec.Args)+argumentsMore))
		out, err := c.paid(nth(name, "anew", n), said, allowed)
		if f, failed := errors.AsType[*journal.Failure](err); !failed || f.Code != kernel.FailureUnknown {
			return out, err
		}
		granted = 0
	}
}

// billed is the llm that a call of the tool may ask, or "".
func (t *BoundTool) billed() string { return cmp.Or(t.sampling.LLM, t.vectors) }

// paid is one time that a part is performed, with vectors of so many tokens.
func (c *toolRun) paid(name string, said []exchange, allowed int) (attempted, error) {
	s, t := c.s, c.tool
	llm, ok := s.r.models[t.billed()]
	if !ok {
		return attempted{}, stop.Fail(stop.Internal, "llms", "llm %q is not in the program", t.billed())
	}
	price, held := llm.spec.Cost, reservation{}
	if s.r.budgeted() {
		var err error
		if held, err = s.hold(func() reservation { return t.most(t.sampling.MaxCalls, allowed, price) }); err != nil {
			return attempted{}, err
		}
		s.charge(name, held)
	}
	out, err := kernel.Do(s.k, c.effect(name, said, allowed))
	took := out.tries
	f, failed := errors.AsType[*journal.Failure](err)
	switch {
	case failed && f.Code != kernel.FailureUnknown:
		took = triesOf(f)
	case err != nil: // all of it may have been used
		s.r.settle(held, s.unanswered(name, llm.spec.Name, held, err))
		return out, err
	}
	s.uncharge(name, held)
	used := t.most(took.Lost, took.LostVectors, price)
	if used.tokens > 0 && held.held {
		s.charge(name, used)
		s.Record(engine.WarningAdded{Text: fmt.Sprintf("what tool %s asked of llm %s was lost, and counts with the %d tokens that it may have taken", c.rec.Tool, llm.spec.Name, used.tokens)})
	}
	used = used.plus(s.sampled(llm.spec, took.Sampled)).plus(s.embedded(llm.spec, took.Vectors))
	if s.r.settle(held, used) && held.held {
		s.Record(engine.WarningAdded{Text: fmt.Sprintf("llm %s used %d tokens where at most %d were expected", llm.spec.Name, used.tokens, held.tokens)})
	}
	return out, err
}

// most is what so many questions of the tool, and vectors of so many tokens, may
// take of its llm.
func (t *BoundTool) most(questions, vectors int, price *model.Cost) reservation {
	most := mostSampled(t.sampling, price).times(questions)
	if t.vectors != "" {
		most = most.plus(worst(vectors, 0, price))
	}
	return most
}

// sampled books what the tool asked.
func (s *scope) sampled(llm *engine.ModelSpec, asked []model.Tokens) (sum reservation) {
	for _, t := range asked {
		cost := llm.Cost.Of(t)
		sum = sum.plus(reservation{tokens: t.Total(), cost: cost})
		s.Record(engine.ModelCalled{Model: llm.Name, Tokens: t, Cost: cost})
	}
	return sum
}

// plus is two of them together.
func (w reservation) plus(o reservation) reservation {
	return reservation{tokens: w.tokens + o.tokens, cost: w.cost + o.cost}
}

// times is n times as much.
func (w reservation) times(n int) reservation {
	return reservation{tokens: w.tokens * n, cost: w.cost * float64(n)}
}

// toolBreaker keeps a run's calls away from a tool's service after failures in a
// row that tell of the service and not of the call. Its numbers are those of the
// breaker before models (internal/wire).
type toolBreaker struct {
	breaker.Breaker
	last string // the newest failure
}

const (
	tripAfter = 5
	cooldown  = 30 * time.Second // of active time
)

// activeAt is an active time of the run as the breaker wants it.
func activeAt(d time.Duration) time.Time { return time.Time{}.Add(d) }

// service is what tools of one server share.
func (t *BoundTool) service() string {
	if t.server != "" || t.Spec == nil {
		return t.server
	}
	return t.Spec.Name
}

// countOutcome counts an outcome: failed is nil where the call succeeded.
func (r *run) countOutcome(t *BoundTool, failed *journal.Failure, now time.Duration) {
	name := t.service()
	if failed == nil || failed.Code != failedTimeout && failed.Code != failedUnavailable && failed.Code != tool.CodeUnknownOutcome {
		delete(r.breakers, name)
		return
	}
	if r.breakers == nil {
		r.breakers = map[string]*toolBreaker{}
	}
	b := r.breakers[name]
	if b == nil {
		b = &toolBreaker{Breaker: breaker.Breaker{Trip: tripAfter, Pause: cooldown}}
		r.breakers[name] = b
	}
	b.last = failed.Message
	b.Fail(activeAt(now), 0)
}

// refusal says why a tool is not called now, or "". Once the cooldown is over
// one call tries it again, and the others wait for its outcome.
func (r *run) refusal(t *BoundTool, now time.Duration) string {
	b := r.breakers[t.service()]
	if b == nil || b.Allows(activeAt(now)) {
		return ""
	}
	wait := "until a call that tries it again has ended"
	if left := b.Left(activeAt(now)); left > 0 {
		wait = "for " + left.Round(time.Second).String()
	}
	return fmt.Sprintf("%s was not called: it failed %d times in a row and is left alone %s; do without it. Its last failure: %s",
		cmp.Or(t.service(), "the tool"), b.Failures, wait, tool.Excerpt(b.last, 200))
}

// beginCall notes that a call of the tool begins. Where it tries a service again
// that was left alone, others wait for it until it is over.
func (r *run) beginCall(t *BoundTool) (over func()) {
	b := r.breakers[t.service()]
	if b == nil || !b.Open() {
		return func() {}
	}
	b.Trying = true
	return func() { b.Trying = false }
}

// seats are the calls that a run makes at once of a tool, or of all tools of a
// server. They are taken before a call is begun: one that waits is in no
// journal, so a session that ends meanwhile leaves nothing in doubt.
type seats struct{ most, taken int }

// seatsOf is the bound on concurrent calls of a tool. A tool that stores vectors
// has a bound of one: of concurrent calls that lack the same vectors, it would be
// chance which one computes and pays for them.
func seatsOf(spec *tool.Spec) *seats {
	switch {
	case vectorsOf(spec) != "":
		return &seats{most: 1}
	case spec == nil || spec.MaxConcurrent <= 0:
		return &seats{most: tool.DefaultConcurrency}
	}
	return &seats{most: spec.MaxConcurrent}
}

// seated waits for a seat; leave gives it back. A call that the journal has begun
// here does not wait: an earlier version of the program had more seats.
func (c *toolRun) seated() (leave func(), err error) {
	at := c.tool.seats
	if at == nil {
		return func() {}, nil
	}
	if err := c.s.Await(func() bool { return at.taken < at.most || c.s.k.Next(c.name) }); err != nil {
		return nil, err
	}
	at.taken++
	return func() { at.taken-- }, nil
}
