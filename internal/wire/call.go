package wire

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// Job is one logical call: what its attempts do and when they are repeated.
type Job struct {
	// Tokens is what the call is expected to take from the rate limit.
	Tokens int
	// Do makes one attempt, from building the request to reading the last byte
	// of the answer, with ctx on its requests. It returns the tokens really
	// used, 0 where that is not known.
	Do func(ctx context.Context) (tokens int, err error)
	// Again says whether an error may pass; nil = a retryable *Error.
	Again func(error) bool
}

// Call performs a job: it waits for the rate limit, makes an attempt, and
// repeats it after a wait as the client's Retry says. attempts counts the
// attempts made. Where Do lost the type of a failed request, the error is that
// request's *Error. When ctx ends the call, the error wraps ctx.Err().
func (c *Client) Call(ctx context.Context, job Job) (attempts int, err error) {
	again := job.Again
	if again == nil {
		again = retryable
	}
	for n := 1; ; n++ {
		err := c.attempt(ctx, job)
		if err == nil || n >= c.s.Retry.MaxAttempts || ctx.Err() != nil || !again(err) {
			return n, err
		}
		wait := c.s.Retry.Delay(n, wished(err), c.s.Random)
		if end, ok := ctx.Deadline(); ok && time.Until(end) < wait {
			return n, err
		}
		if stop := c.s.Sleep(ctx, wait); stop != nil {
			return n, fmt.Errorf("%w while waiting to repeat after: %w", stop, err)
		}
	}
}

// attempt makes one attempt within the rate limit.
func (c *Client) attempt(ctx context.Context, job Job) error {
	release, err := c.s.Limiter.Acquire(ctx, job.Tokens)
	if err != nil {
		return err
	}
	var last record
	used, err := job.Do(context.WithValue(ctx, recordKey{}, &last))
	release(used)
	if err == nil {
		return nil
	}
	if ctxErr := ctx.Err(); ctxErr != nil {
		if errors.Is(err, ctxErr) {
			return err
		}
		return fmt.Errorf("%w: %s", ctxErr, c.Redact(err.Error()))
	}
	if typed := (*Error)(nil); !errors.As(err, &typed) {
		if lost := last.get(); lost != nil {
			return lost
		}
	}
	return err
}

func retryable(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.Retryable()
}

// wished is how long the server asked to wait.
func wished(err error) time.Duration {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.RetryAfter
	}
	return 0
}

type recordKey struct{}

// record keeps the last typed failure of an attempt: some libraries turn it
// into text on its way up.
type record struct {
	mu  sync.Mutex
	err *Error
}

func (r *record) get() *Error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

func remember(ctx context.Context, err *Error) {
	if r, ok := ctx.Value(recordKey{}).(*record); ok {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.err = err
	}
}
