package httpclient

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/pexctl/pex/engine/breaker"
	"github.com/pexctl/pex/engine/model"
)

// When a breaker opens, and for how long.
const (
	breakAfter = 5                // consecutive failed attempts
	breakFirst = time.Second      // until the first trial call; doubled after each failed one,
	breakMost  = 30 * time.Second // up to this
	breakAsked = time.Minute      // or as long as the server asks, up to this
	breakWait  = 5 * time.Second  // maximum wait of a call, unless the server asked for more
)

// ErrOpen is returned if nothing was sent because the breaker is open: the model's server failed too often.
var ErrOpen = errors.New("breaker open")

// Breaker is a circuit breaker for a model. After 5 consecutive failed attempts of any calls, nothing is sent for a
// second, or for as long as the server asked. Then one trial call is allowed, whose result applies to all waiting
// calls. Each failed one doubles the wait, up to 30 s. A nil Breaker allows all calls. It is safe for concurrent use.
type Breaker struct {
	mu           sync.Mutex
	circuit      breaker.Breaker
	epoch        int           // number of changes between open and closed; an attempt counts only for the state in which it started
	changed      chan struct{} // closed when a trial call ends
	failedTrials int           // total number of failed trial calls
	serverAsked  bool          // the server asked for the current wait
	last         fault         // the most recent failure
}

// fault is a failure as stored by a breaker.
type fault struct {
	kind  model.ErrorKind
	text  string
	after time.Duration // wait that the server asked for
}

// NewBreaker returns a closed breaker.
func NewBreaker() *Breaker {
	return &Breaker{circuit: breaker.Breaker{Trip: breakAfter, Pause: breakFirst, MaxPause: breakMost}, changed: make(chan struct{})}
}

var breakers struct {
	sync.Mutex
	of map[string]*Breaker
}

// SharedBreaker returns the breaker of a model (its server and name), which the whole process shares.
func SharedBreaker(model string) *Breaker {
	breakers.Lock()
	defer breakers.Unlock()
	if breakers.of == nil {
		breakers.of = map[string]*Breaker{}
	}
	if breakers.of[model] == nil {
		breakers.of[model] = NewBreaker()
	}
	return breakers.of[model]
}

// Outcomes of attempts.
var (
	errIrrelevant = errors.New("says nothing about the server")
	errFailed     = errors.New("the server failed")
)

// failed records a failure. mu must be held.
func (b *Breaker) failed(what fault) {
	b.last = what
	now, after := time.Now(), min(what.after, breakAsked)
	if b.circuit.Fail(now, after); b.circuit.Open() {
		b.epoch++
		b.serverAsked = after >= b.circuit.Remaining(now)
	}
}

// blockedBy returns why an attempt may not start, or nil. An attempt that has waited until waited may start without a look
// at the clock.
func (b *Breaker) blockedBy(waited time.Time) *block {
	c := &b.circuit
	switch left := time.Until(c.Until); {
	case !c.Open():
		return nil
	case c.Probing:
		return &block{changed: b.changed, failedTrials: b.failedTrials, err: b.refusal("a trial call is in progress", 0)}
	case left <= 0, waited.Equal(c.Until):
		return nil
	default:
		when := "the next trial call is in " + roundUp(left).String()
		return &block{until: c.Until, long: left > breakWait && !b.serverAsked, serverAsked: b.serverAsked, failedTrials: b.failedTrials, err: b.refusal(when, left)}
	}
}

// block is why an attempt may not start now.
type block struct {
	until        time.Time       // when an attempt may start; zero = when the trial call ends,
	changed      <-chan struct{} // which closes this channel
	long         bool            // longer than calls wait
	serverAsked  bool            // the server asked for the wait
	failedTrials int
	err          *Error
}

// failFast returns the error for a call with a fallback, which need not wait.
func (h *block) failFast() error {
	h.err.Final = true
	return h.err
}

// refusal returns the error of an attempt that was not sent. Its kind is that of the last failure.
func (b *Breaker) refusal(when string, left time.Duration) *Error {
	return &Error{
		Kind: b.last.kind, RetryAfter: left, NotSent: true, Err: ErrOpen,
		Message: fmt.Sprintf("not called: its server failed %d times in a row, and %s; the last failure: %s", b.circuit.Failures, when, b.last.text),
	}
}

// trialResult reports the result of an attempt to the breaker.
type trialResult struct {
	// end must be called once with the outcome of the attempt.
	end func(says error, what fault)
	// responding may be called earlier, when the server starts to respond, so that waiting calls need not wait for the end
	// of a long response.
	responding func()
}

// pass allows an attempt, or returns why it may not start.
func (b *Breaker) pass(waited time.Time) (trialResult, *block) {
	if b == nil {
		return trialResult{func(error, fault) {}, func() {}}, nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if h := b.blockedBy(waited); h != nil {
		return trialResult{}, h
	}
	if !b.circuit.Open() {
		turn := b.epoch
		return trialResult{func(says error, what fault) { b.ended(turn, says, what) }, func() {}}, nil
	}
	b.circuit.Probing = true
	return b.trial(), nil
}

// trial returns the ticket of the trial call. Only the first result counts.
func (b *Breaker) trial() trialResult {
	var once sync.Once
	end := func(says error, what fault) {
		once.Do(func() {
			b.mu.Lock()
			defer b.mu.Unlock()
			switch {
			case says == nil:
				b.circuit.Succeed()
				b.epoch++
			case errors.Is(says, errFailed):
				b.failedTrials++
				b.failed(what)
			}
			b.circuit.Probing = false
			close(b.changed)
			b.changed = make(chan struct{})
		})
	}
	return trialResult{end, func() { end(nil, fault{}) }}
}

// ended records the end of an attempt that started with a closed breaker, unless the breaker has changed since.
func (b *Breaker) ended(turn int, says error, what fault) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case turn != b.epoch:
	case says == nil:
		b.circuit.Succeed()
	case errors.Is(says, errFailed):
		b.failed(what)
	}
}

// look returns why an attempt may not start, and the number of failed trial calls.
func (b *Breaker) look(waited time.Time) (h *block, lost int) {
	if b == nil {
		return nil, 0
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.blockedBy(waited), b.failedTrials
}

// roundUp rounds up to whole seconds.
func roundUp(d time.Duration) time.Duration {
	return (d + time.Second - 1).Truncate(time.Second)
}
