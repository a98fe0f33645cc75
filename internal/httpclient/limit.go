package httpclient

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"
)

// Limits bound the calls to one model; zero = unbounded.
type Limits struct {
	RequestsPerMinute int
	TokensPerMinute   int
	MaxConcurrent     int
}

// Limiter keeps calls within Limits: no more requests and tokens than allowed
// in any 60 seconds, no more calls at once. Waiters go in the order in which
// they came. A nil Limiter lets everything pass. Safe for concurrent use.
type Limiter struct {
	limits Limits
	slots  chan struct{} // nil = any number at once
	turn   chan struct{} // held by the first in the queue for the window

	mu     sync.Mutex
	window []spent // the last minute, oldest first
	last   uint64  // serial of the newest request ever
}

// spent is one request in the window.
type spent struct {
	at     time.Time
	tokens int
	serial uint64
}

const minute = time.Minute

// NewLimiter makes a limiter, nil when nothing is limited.
func NewLimiter(l Limits) *Limiter {
	if l == (Limits{}) {
		return nil
	}
	out := &Limiter{limits: l, turn: make(chan struct{}, 1)}
	if l.MaxConcurrent > 0 {
		out.slots = make(chan struct{}, l.MaxConcurrent)
	}
	return out
}

var shared struct {
	sync.Mutex
	limiters map[sharedKey]*Limiter
}

type sharedKey struct {
	model  string
	limits Limits
}

// Shared is the process's one limiter of a model (its server and name) with
// these limits: everyone who asks for the same gets the same.
func Shared(model string, l Limits) *Limiter {
	if l == (Limits{}) {
		return nil
	}
	shared.Lock()
	defer shared.Unlock()
	key := sharedKey{model, l}
	if shared.limiters == nil {
		shared.limiters = map[sharedKey]*Limiter{}
	}
	if shared.limiters[key] == nil {
		shared.limiters[key] = NewLimiter(l)
	}
	return shared.limiters[key]
}

// unsentCall, for the tokens of a call, says that it was not made.
const unsentCall = -1

// Acquire waits until a call that will take about so many tokens fits. release
// ends the call and says what it really used, 0 where that is not known.
func (l *Limiter) Acquire(ctx context.Context, tokens int) (release func(used int), err error) {
	if l == nil {
		return func(int) {}, nil
	}
	if l.slots != nil {
		select {
		case l.slots <- struct{}{}:
		case <-ctx.Done():
			return nil, fmt.Errorf("wait for a free slot: %w", ctx.Err())
		}
	}
	at, err := l.enter(ctx, tokens)
	if err != nil {
		l.free()
		return nil, fmt.Errorf("wait for the rate limit: %w", err)
	}
	return func(used int) {
		l.settle(at, used)
		l.free()
	}, nil
}

// enter waits for room in the window and takes it.
func (l *Limiter) enter(ctx context.Context, tokens int) (serial uint64, err error) {
	if l.limits.RequestsPerMinute == 0 && l.limits.TokensPerMinute == 0 {
		return 0, ctx.Err()
	}
	select {
	case l.turn <- struct{}{}:
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	defer func() { <-l.turn }()
	for {
		wait, serial := l.take(time.Now(), tokens)
		if wait <= 0 {
			return serial, nil
		}
		if err := sleep(ctx, wait); err != nil {
			return 0, err
		}
	}
}

// take books a request in the window, or says how long until it may fit.
func (l *Limiter) take(now time.Time, tokens int) (wait time.Duration, serial uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	old := 0
	for old < len(l.window) && now.Sub(l.window[old].at) >= minute {
		old++
	}
	l.window = append(l.window[:0], l.window[old:]...)
	if !l.fits(tokens) {
		return minute - now.Sub(l.window[0].at), 0
	}
	l.last++
	l.window = append(l.window, spent{now, tokens, l.last})
	return 0, l.last
}

// fits says whether the window has room. An empty window has, even for a call
// that is larger than the whole limit: it could never run else.
func (l *Limiter) fits(tokens int) bool {
	if len(l.window) == 0 {
		return true
	}
	if most := l.limits.RequestsPerMinute; most > 0 && len(l.window) >= most {
		return false
	}
	if most := l.limits.TokensPerMinute; most > 0 {
		for _, s := range l.window {
			tokens += s.tokens
		}
		return tokens <= most
	}
	return true
}

// settle replaces the expected tokens of a request by those it used, and
// forgets a request that was not made.
func (l *Limiter) settle(serial uint64, used int) {
	if serial == 0 || used == 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	i := slices.IndexFunc(l.window, func(s spent) bool { return s.serial == serial })
	switch {
	case i < 0:
	case used < 0:
		l.window = slices.Delete(l.window, i, i+1)
	default:
		l.window[i].tokens = used
	}
}

func (l *Limiter) free() {
	if l.slots != nil {
		<-l.slots
	}
}
