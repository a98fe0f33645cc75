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

// performSegment performs a segment of the call and pays for the LLM calls the tool makes.
func (c *toolRun) performSegment(name string, answers []qa, granted int) (segmentResult, error) {
	if c.tool.billedLLM() == "" {
		return kernel.Do(c.s.k, c.effect(name, answers, 0))
	}
	return c.performMetered(name, answers, granted)
}

// performMetered performs a segment of a tool that may call LLMs: samples, and embeddings
// up to the granted tokens, or the size of the arguments if granted is 0. Under a budget a
// segment is performed once. If its outcome is unknown because its session ended, its
// whole reservation is charged and it is performed again without the grant, since it may
// need less by now.
func (c *toolRun) performMetered(name string, answers []qa, granted int) (segmentResult, error) {
	if granted > 0 {
		root := c.s.r.root()
		root.grantingVectors = true
		defer func() { root.grantingVectors = false }()
	}
	for n := 1; ; n++ {
		allowed := cmp.Or(granted, vectorTokens(len(c.rec.Args)+argumentsMargin))
		out, err := c.performPaid(nth(name, "anew", n), answers, allowed)
		if f, failed := errors.AsType[*journal.Failure](err); !failed || f.Code != kernel.FailureUnknown || n > maxUnknown {
			return out, err
		}
		granted = 0
	}
}

// billedLLM returns the LLM that a call of the tool may use, or "".
func (t *BoundTool) billedLLM() string { return cmp.Or(t.sampling.LLM, t.vectorLLM) }

// performPaid performs a segment once, with embeddings of up to allowed tokens.
func (c *toolRun) performPaid(name string, answers []qa, allowed int) (segmentResult, error) {
	s, t := c.s, c.tool
	llm, ok := s.r.models[t.billedLLM()]
	if !ok {
		return segmentResult{}, stop.Fail(stop.Internal, "llms", "llm %q is not in the program", t.billedLLM())
	}
	price, held := llm.spec.Cost, reservation{}
	if s.r.budgeted() {
		var err error
		if held, err = s.awaitReservation(func() reservation { return t.worstCase(t.sampling.MaxCalls, allowed, price) }); err != nil {
			return segmentResult{}, err
		}
		s.charge(name, held)
	}
	out, err := kernel.Do(s.k, c.effect(name, answers, allowed))
	took := out.attemptStats
	f, failed := errors.AsType[*journal.Failure](err)
	switch {
	case failed && f.Code != kernel.FailureUnknown:
		took = statsOf(f)
	case err != nil: // all of it may have been used
		s.r.settle(held, s.chargeUnanswered(name, llm.spec.Name, held, err))
		return out, err
	}
	s.uncharge(name, held)
	used := t.worstCase(took.Lost, took.LostVectors, price)
	if used.tokens > 0 && held.held {
		s.charge(name, used)
		s.Record(engine.WarningAdded{Text: fmt.Sprintf("calls of tool %s to llm %s were lost; their worst case of %d tokens is charged", c.rec.Tool, llm.spec.Name, used.tokens)})
	}
	if s.r.emit.enabled() {
		c.embedded = addEmbedded(c.embedded, llm.spec, took.Vectors, took.LostVectors > 0)
	}
	used = used.plus(s.recordSampled(llm.spec, took.Sampled)).plus(s.recordEmbedded(llm.spec, took.Vectors))
	if s.r.settle(held, used) && held.held {
		s.Record(engine.WarningAdded{Text: fmt.Sprintf("llm %s used %d tokens; at most %d were expected", llm.spec.Name, used.tokens, held.tokens)})
	}
	return out, err
}

// worstCase returns the most that a number of samples and of embedded tokens may cost.
func (t *BoundTool) worstCase(questions, vectors int, price *model.Cost) reservation {
	most := worstSample(t.sampling, price).times(questions)
	if t.vectorLLM != "" {
		most = most.plus(worstCase(vectors, 0, price))
	}
	return most
}

// recordSampled records the tool's samples.
func (s *scope) recordSampled(llm *engine.ModelSpec, asked []model.Tokens) (sum reservation) {
	for _, t := range asked {
		cost := llm.Cost.Of(t)
		sum = sum.plus(reservation{tokens: t.Total(), cost: cost})
		s.Record(engine.ModelCalled{Model: llm.Name, Tokens: t, Cost: cost})
	}
	return sum
}

// plus returns the sum of two reservations.
func (w reservation) plus(o reservation) reservation {
	return reservation{tokens: w.tokens + o.tokens, cost: w.cost + o.cost}
}

// times returns n times the reservation.
func (w reservation) times(n int) reservation {
	return reservation{tokens: w.tokens * n, cost: w.cost * float64(n)}
}

// toolBreaker is a circuit breaker for a tool's service. It opens after consecutive
// failures that concern the service rather than the call. Its numbers are those of the
// model client's breaker (internal/httpclient).
type toolBreaker struct {
	breaker.Breaker
	lastError string // message of the latest failure
}

const (
	tripAfter = 5
	cooldown  = 30 * time.Second // in active time
)

// breakerTime converts active time of the run to the breaker's type.
func breakerTime(d time.Duration) time.Time { return time.Time{}.Add(d) }

// service returns the key of the breaker: the server, or the tool itself.
func (t *BoundTool) service() string {
	if t.server != "" || t.Spec == nil {
		return t.server
	}
	return t.Spec.Name
}

// countOutcome counts an outcome; failed is nil if the call succeeded.
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
	b.lastError = failed.Message
	b.Fail(breakerTime(now), 0)
}

// refusal returns why the tool is not called while its breaker is open, or "". After the
// cooldown one call probes the service and the others wait for its outcome.
func (r *run) refusal(t *BoundTool, now time.Duration) string {
	b := r.breakers[t.service()]
	if b == nil || b.Allows(breakerTime(now)) {
		return ""
	}
	wait := "until a trial call has finished"
	if left := b.Remaining(breakerTime(now)); left > 0 {
		wait = "for " + left.Round(time.Second).String()
	}
	return fmt.Sprintf("%s was not called: it failed %d times in a row and is blocked %s. Continue without it. Last error: %s",
		cmp.Or(t.service(), "the tool"), b.Failures, wait, tool.Excerpt(b.lastError, 200))
}

// beginCall marks the call as the probe if the breaker is open. The caller must call over
// when the call has ended.
func (r *run) beginCall(t *BoundTool) (over func()) {
	b := r.breakers[t.service()]
	if b == nil || !b.Open() {
		return func() {}
	}
	b.Probing = true
	return func() { b.Probing = false }
}

// semaphore limits concurrent calls to one tool or one tool server. A slot is acquired
// before the call is journaled, so a session that ends while a call waits leaves no
// unknown outcome.
type semaphore struct{ limit, used int }

// newSemaphore returns the semaphore of a tool. A tool that stores embeddings has a limit
// of one: of concurrent calls missing the same embeddings, chance would decide which one
// computes and pays for them.
func newSemaphore(spec *tool.Spec) *semaphore {
	switch {
	case vectorLLM(spec) != "":
		return &semaphore{limit: 1}
	case spec == nil || spec.MaxConcurrent <= 0:
		return &semaphore{limit: tool.DefaultConcurrency}
	}
	return &semaphore{limit: spec.MaxConcurrent}
}

// acquire waits for a slot. A call that the journal has already started does not wait: an
// earlier version may have allowed more.
func (c *toolRun) acquire() error {
	at := c.tool.sem
	if at == nil {
		return nil
	}
	if err := c.s.Await(func() bool { return at.used < at.limit || c.s.k.Next(c.name) }); err != nil {
		return err
	}
	at.used++
	return nil
}

// release releases the slot.
func (c *toolRun) release() {
	if c.tool.sem != nil {
		c.tool.sem.used--
	}
}
