package model

import (
	"context"
	"fmt"
	"sync"
)

// RetryEvent is a wait before a failed call is repeated.
type RetryEvent struct {
	Attempt     int    `json:"attempt"`      // number of the attempt after the wait
	MaxAttempts int    `json:"max_attempts"` // of the retry policy, the first one included
	Wait        int64  `json:"wait_ms"`
	Error       string `json:"error"` // why the attempt before it failed; secrets are masked
}

// What a run may repeat, so that many runs at a server in trouble do not make
// its trouble worse: a tenth of the calls, as in "Handling Overload" of Google's
// Site Reliability Engineering, and a few more, for a run is short.
const (
	FirstRepeats   = 10
	CallsPerRepeat = 10
)

// Retries is what one run, with the agents within it, may still repeat of its
// calls of models. Safe for concurrent use; nil bounds nothing.
type Retries struct {
	mu    sync.Mutex
	calls int // made, each counted once
	taken int
}

// Called notes a call that is made for the first time.
func (r *Retries) Called() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls++
}

// Take takes one repeat, if there is one left. used says how it stands.
func (r *Retries) Take() (used string, ok bool) {
	if r == nil {
		return "", true
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.taken < FirstRepeats+r.calls/CallsPerRepeat {
		r.taken++
		return "", true
	}
	return fmt.Sprintf("not repeated: the run has made %d calls of models and repeated %d attempts, and may repeat %d and a tenth of its calls", r.calls, r.taken, FirstRepeats), false
}

type (
	retriesKey struct{}
	meterKey   struct{}
	noticeKey  struct{}
)

// WithMeter says of calls made with a context that a budget pays for one attempt,
// as Request.Metered does of a request: what may be billed is not repeated.
func WithMeter(ctx context.Context) context.Context {
	return context.WithValue(ctx, meterKey{}, true)
}

// Metered says whether a context is one of WithMeter.
func Metered(ctx context.Context) bool {
	metered, _ := ctx.Value(meterKey{}).(bool)
	return metered
}

// WithRetries gives calls made with a context what their run may repeat.
func WithRetries(ctx context.Context, r *Retries) context.Context {
	return context.WithValue(ctx, retriesKey{}, r)
}

// RetriesOf is what the run behind a context may repeat; nil = no run, no bound.
func RetriesOf(ctx context.Context) *Retries {
	r, _ := ctx.Value(retriesKey{}).(*Retries)
	return r
}

// WithRetryNotice has notice called before each wait that precedes a repeat of a
// call made with the context. notice must be safe for concurrent use.
func WithRetryNotice(ctx context.Context, notice func(RetryEvent)) context.Context {
	return context.WithValue(ctx, noticeKey{}, notice)
}

// NoticeRetry reports a wait to the run behind a context, if there is one.
func NoticeRetry(ctx context.Context, e RetryEvent) {
	if notice, ok := ctx.Value(noticeKey{}).(func(RetryEvent)); ok {
		notice(e)
	}
}
