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
	breakAfter = 5                // failed attempts in a row
	breakFirst = time.Second      // until one is let through; doubled each time that one fails,
	breakMost  = 30 * time.Second // up to this
	breakAsked = time.Minute      // or as long as the server asks, up to this
	breakWait  = 5 * time.Second  // that a call waits for it, unless the server asked for more
)

// ErrOpen says that nothing was sent: the model's server has failed too often,
// and the breaker is open.
var ErrOpen = errors.New("breaker open")

// Breaker keeps calls away from a model that does not work. After 5 failed
// attempts in a row, by whichever calls, nothing is sent for a second, or for
// as long as the server asked; then one attempt is let through, and how it ends
// counts for all who wait. Each that fails doubles the time until the next, up
// to 30 s. A nil Breaker lets everything pass. Safe for concurrent use.
type Breaker struct {
	mu      sync.Mutex
	circuit breaker.Breaker
	turns   int           // how often it opened and closed: an attempt counts for the state that it passed
	changed chan struct{} // closed when an attempt that tried the server has ended
	lost    int           // such attempts that failed, ever
	asked   bool          // it stays open so long because the server asked for it
	last    fault         // the newest failure
}

// fault is a failure as a breaker notes it.
type fault struct {
	kind  model.ErrorKind
	text  string
	after time.Duration // the server's wish
}

// NewBreaker makes a closed breaker.
func NewBreaker() *Breaker {
	return &Breaker{circuit: breaker.Breaker{Trip: breakAfter, Pause: breakFirst, MaxPause: breakMost}, changed: make(chan struct{})}
}

var breakers struct {
	sync.Mutex
	of map[string]*Breaker
}

// SharedBreaker is the process's one breaker of a model (its server and name):
// everyone who asks for the same gets the same.
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

// What an attempt says of its server.
var (
	errAside  = errors.New("nothing")
	errFailed = errors.New("it does not work")
)

// failed counts a failure; mu is held.
func (b *Breaker) failed(what fault) {
	b.last = what
	now, after := time.Now(), min(what.after, breakAsked)
	if b.circuit.Fail(now, after); b.circuit.Open() {
		b.turns++
		b.asked = after >= b.circuit.Remaining(now)
	}
}

// held says what keeps an attempt from passing, nil = nothing. Whoever has
// waited until a time need not look at the clock again.
func (b *Breaker) held(waited time.Time) *hold {
	c := &b.circuit
	switch left := time.Until(c.Until); {
	case !c.Open():
		return nil
	case c.Probing:
		return &hold{changed: b.changed, lost: b.lost, err: b.refusal("one call is trying it now", 0)}
	case left <= 0, waited.Equal(c.Until):
		return nil
	default:
		when := "the next one is let through in " + roundUp(left).String()
		return &hold{until: c.Until, long: left > breakWait && !b.asked, asked: b.asked, lost: b.lost, err: b.refusal(when, left)}
	}
}

// hold is why an attempt may not pass now.
type hold struct {
	until   time.Time       // when one may; zero = when the one that tries has ended,
	changed <-chan struct{} // which closes this
	long    bool            // longer than a call waits
	asked   bool            // the server asked for the wait
	lost    int
	err     *Error
}

// elsewhere tells a call that need not wait to go on to somebody else.
func (h *hold) elsewhere() error {
	h.err.Final = true
	return h.err
}

// refusal is a failure for which nothing was sent. It is of the kind of the last
// that was: what is said of that server holds for both.
func (b *Breaker) refusal(when string, left time.Duration) *Error {
	return &Error{
		Kind: b.last.kind, RetryAfter: left, NotSent: true, Err: ErrOpen,
		Message: fmt.Sprintf("not asked: its server has failed %d times in a row, and %s; the last failure: %s", b.circuit.Failures, when, b.last.text),
	}
}

// ticket is for an attempt that was let through.
type ticket struct {
	// end is to be called with what the attempt says of the server, whatever comes.
	end func(says error, what fault)
	// works may be called before, when the server has begun to answer: those who
	// wait for a long reply of it need not.
	works func()
}

// pass lets an attempt through where nothing holds it.
func (b *Breaker) pass(waited time.Time) (ticket, *hold) {
	if b == nil {
		return ticket{func(error, fault) {}, func() {}}, nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if h := b.held(waited); h != nil {
		return ticket{}, h
	}
	if !b.circuit.Open() {
		turn := b.turns
		return ticket{func(says error, what fault) { b.ended(turn, says, what) }, func() {}}, nil
	}
	b.circuit.Probing = true
	return b.trial(), nil
}

// trial is the ticket of the one attempt that tries the server. What it says
// first counts.
func (b *Breaker) trial() ticket {
	var once sync.Once
	end := func(says error, what fault) {
		once.Do(func() {
			b.mu.Lock()
			defer b.mu.Unlock()
			switch {
			case says == nil:
				b.circuit.Succeed()
				b.turns++
			case errors.Is(says, errFailed):
				b.lost++
				b.failed(what)
			}
			b.circuit.Probing = false
			close(b.changed)
			b.changed = make(chan struct{})
		})
	}
	return ticket{end, func() { end(nil, fault{}) }}
}

// ended counts how an attempt ended that passed a closed breaker, unless it has
// opened since.
func (b *Breaker) ended(turn int, says error, what fault) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case turn != b.turns:
	case says == nil:
		b.circuit.Succeed()
	case errors.Is(says, errFailed):
		b.failed(what)
	}
}

// look says what would hold an attempt, and how many have failed in trying.
func (b *Breaker) look(waited time.Time) (h *hold, lost int) {
	if b == nil {
		return nil, 0
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.held(waited), b.lost
}

// roundUp makes a wait whole seconds.
func roundUp(d time.Duration) time.Duration {
	return (d + time.Second - 1).Truncate(time.Second)
}
