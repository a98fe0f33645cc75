package httpclient

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"
)

// Limits limit the calls to one model; zero = unlimited.
type Limits struct {
	RequestsPerMinute int
	TokensPerMinute   int
	MaxConcurrent     int
}

// Limiter enforces Limits: the maximum of requests and tokens in any 60 seconds, and of concurrent calls. Calls wait
// in order of arrival. A nil Limiter allows everything. It is safe for concurrent use.
type Limiter struct {
	limits Limits
	slots  chan struct{} // nil = unlimited concurrency
	turn   chan struct{} // held by the first call that waits for the window

	mu     sync.Mutex
	window []reservation // the last minute, oldest first
	last   uint64        // serial of the newest request
}

// reservation is one request in the window.
type reservation struct {
	at     time.Time
	tokens int
	serial uint64
}

const minute = time.Minute

// NewLimiter returns a limiter, or nil if there are no limits.
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

// Shared returns the limiter of a model (its server and name) with these limits, which the whole process shares.
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

// unsentCall is the token count of a call that was not sent.
const unsentCall = -1

// Acquire waits until a call with about this many tokens is allowed. release ends the call; used is its actual number
// of tokens, or 0 if unknown.
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
		l.releaseSlot()
		return nil, fmt.Errorf("wait for the rate limit: %w", err)
	}
	return func(used int) {
		l.settle(at, used)
		l.releaseSlot()
	}, nil
}

// enter waits for capacity in the window and reserves it.
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
		wait, serial := l.reserve(time.Now(), tokens)
		if wait <= 0 {
			return serial, nil
		}
		if err := sleep(ctx, wait); err != nil {
			return 0, err
		}
	}
}

// reserve reserves a request in the window, or returns how long to wait.
func (l *Limiter) reserve(now time.Time, tokens int) (wait time.Duration, serial uint64) {
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
	l.window = append(l.window, reservation{now, tokens, l.last})
	return 0, l.last
}

// fits reports whether the window has capacity. An empty window always has, because a call larger than the whole
// limit could never run otherwise.
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

// settle replaces the expected tokens of a request by the actual ones, or removes a request that was not sent.
func (l *Limiter) settle(serial uint64, used int) {
	if serial == 0 || used == 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	i := slices.IndexFunc(l.window, func(s reservation) bool { return s.serial == serial })
	switch {
	case i < 0:
	case used < 0:
		l.window = slices.Delete(l.window, i, i+1)
	default:
		l.window[i].tokens = used
	}
}

func (l *Limiter) releaseSlot() {
	if l.slots != nil {
		<-l.slots
	}
}
