package model

import (
	"context"
	"fmt"
	"sync"
)

// RetryEvent is a wait before a retry.
type RetryEvent struct {
	Attempt     int    `json:"attempt"`      // number of the attempt after the wait
	MaxAttempts int    `json:"max_attempts"` // of the retry policy, including the first
	Wait        int64  `json:"wait_ms"`
	Error       string `json:"error"` // error of the attempt before, redacted
}

// The retry allowance of a run keeps many runs from overloading a failing server: a tenth
// of the calls, as in "Handling Overload" of Google's Site Reliability Engineering, plus
// a few, since runs are short.
const (
	FirstRepeats   = 10
	CallsPerRepeat = 10
)

// Retries is the retry allowance of one run with its nested agents. Safe for concurrent
// use; nil = unlimited.
type Retries struct {
	mu    sync.Mutex
	calls int // each counted once
	used  int
}

// AddCall counts a new call.
func (r *Retries) AddCall() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls++
}

// Take takes one retry if any is left. used describes the allowance.
func (r *Retries) Take() (used string, ok bool) {
	if r == nil {
		return "", true
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.used < FirstRepeats+r.calls/CallsPerRepeat {
		r.used++
		return "", true
	}
	return fmt.Sprintf("not retried: the retry allowance of the run is used up (model calls: %d, retries: %d; allowed: %d plus a tenth of the calls)", r.calls, r.used, FirstRepeats), false
}

type (
	retriesKey struct{}
	meterKey   struct{}
	noticeKey  struct{}
)

// WithMeter marks calls made with the context as metered, like Request.Metered.
func WithMeter(ctx context.Context) context.Context {
	return context.WithValue(ctx, meterKey{}, true)
}

// Metered reports whether the context comes from WithMeter.
func Metered(ctx context.Context) bool {
	metered, _ := ctx.Value(meterKey{}).(bool)
	return metered
}

// WithRetries sets the retry allowance of calls made with the context.
func WithRetries(ctx context.Context, r *Retries) context.Context {
	return context.WithValue(ctx, retriesKey{}, r)
}

// RetriesOf returns the context's retry allowance; nil = unlimited.
func RetriesOf(ctx context.Context) *Retries {
	r, _ := ctx.Value(retriesKey{}).(*Retries)
	return r
}

// WithRetryNotice sets a function called before each wait of a retry. notice must be safe
// for concurrent use.
func WithRetryNotice(ctx context.Context, notice func(RetryEvent)) context.Context {
	return context.WithValue(ctx, noticeKey{}, notice)
}

// NoticeRetry calls the context's retry notice, if any.
func NoticeRetry(ctx context.Context, e RetryEvent) {
	if notice, ok := ctx.Value(noticeKey{}).(func(RetryEvent)); ok {
		notice(e)
	}
}

// RetryCount is how many calls a run has made, and how many retries it has used.
type RetryCount struct {
	Calls int `json:"calls,omitempty"`
	Used  int `json:"used,omitempty"`
}

// Count returns the calls and retries so far.
func (r *Retries) Count() RetryCount {
	r.mu.Lock()
	defer r.mu.Unlock()
	return RetryCount{r.calls, r.used}
}

// Add counts calls and retries that another process made.
func (r *Retries) Add(c RetryCount) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls, r.used = r.calls+c.Calls, r.used+c.Used
}

// Minus returns c without the earlier o.
func (c RetryCount) Minus(o RetryCount) RetryCount {
	return RetryCount{c.Calls - o.Calls, c.Used - o.Used}
}
