package httpclient

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/pexctl/pex/engine/model"
)

// Call is one logical call: its attempts, and when they are repeated.
type Call struct {
	// Tokens is the expected use of the rate limit.
	Tokens int
	// Do makes one attempt, from building the request to reading the last byte of the response, using ctx for its
	// requests. It returns the tokens used, or 0 if unknown.
	Do func(ctx context.Context) (tokens int, err error)
	// Retryable reports whether the same call may succeed after an error. It is called before each repeat; nil =
	// errors are retryable if they are a retryable *Error.
	Retryable func(error) bool
	// Grant is called last before each repeat and may refuse it; nil = always granted.
	Grant func(error) bool
	// Waits is called before each wait: n is the number of the next attempt, of at most most, and err the reason. It
	// may be nil.
	Waits func(n, most int, wait time.Duration, err error)
	// Kind returns the kind of a failure; nil = the kind of an *Error, otherwise BadReply.
	Kind func(error) model.ErrorKind
	// PriorAttempts is the number of attempts made earlier. They count as attempts of the client's Retry.
	PriorAttempts int
	// HasFallback makes the call fail immediately if the breaker is open, since the caller has another model.
	HasFallback bool
	// NoResend prevents resending the request on another connection if the server may have read it, because a budget
	// covers only one request.
	NoResend bool
}

// kind returns the kind of a failure.
func (j *Call) kind(err error) model.ErrorKind {
	if j.Kind != nil {
		return j.Kind(err)
	}
	if sent, ok := errors.AsType[*Error](err); ok {
		return sent.Kind
	}
	return model.BadReply
}

// Call makes a call: it waits for the breaker and the rate limit, makes an attempt, and repeats it after a wait
// according to the client's Retry. attempts counts those that could send something. If Do lost the type of a failed
// request, the error is the *Error of that request. If ctx ends the call, the error wraps ctx.Err().
func (c *Client) Call(ctx context.Context, job Call) (attempts int, err error) {
	again := job.Retryable
	if again == nil {
		again = retryable
	}
	for n := job.PriorAttempts + 1; ; n++ {
		job.PriorAttempts = n - 1
		err := c.attempt(ctx, job)
		if !errors.Is(err, ErrOpen) {
			attempts++
		}
		if err == nil || n >= c.s.Retry.MaxAttempts || ctx.Err() != nil || !again(err) {
			return attempts, err
		}
		if h, _ := c.s.Breaker.look(time.Time{}); h != nil && job.HasFallback {
			return attempts, h.failFast()
		}
		if long := tooLongWait(c.s.Retry, err); long != nil {
			return attempts, long
		}
		if job.Grant != nil && !job.Grant(err) {
			return attempts, err
		}
		wait := c.s.Retry.Delay(n, serverWait(err), c.s.Random)
		if end, ok := ctx.Deadline(); ok && time.Until(end) < wait {
			return attempts, err
		}
		if stop := c.wait(ctx, &job, n+1, wait, err); stop != nil {
			return attempts, ended(stop, err)
		}
	}
}

// wait waits before attempt n because of err.
func (c *Client) wait(ctx context.Context, job *Call, n int, wait time.Duration, err error) error {
	if job.Waits != nil {
		job.Waits(n, max(c.s.Retry.MaxAttempts, 1), wait, err)
	}
	return c.s.Sleep(ctx, wait)
}

// ended returns the error of a call whose ctx ended while it waited to repeat an attempt.
func ended(stop, after error) error {
	return fmt.Errorf("%w while waiting to repeat after: %w", stop, after)
}

// attempt makes one attempt when the breaker and the rate limit allow it.
func (c *Client) attempt(ctx context.Context, job Call) error {
	a, err := c.admit(ctx, job)
	if err != nil {
		return err
	}
	used, says, what := 0, errIrrelevant, fault{} // if Do panics
	defer func() {
		a.end(says, what) // before release, because the next call checks the breaker
		a.release(used)
	}()
	last := attemptState{noResend: job.NoResend, responding: a.responding}
	used, err = job.Do(context.WithValue(ctx, attemptKey{}, &last))
	err = c.found(ctx, err, &last)
	if says = c.outcome(ctx, job, err); says != nil {
		what = c.fault(job, err)
	}
	return err
}

// fault returns a failure for the breaker. Other calls may retry after a timeout even if this one may not.
func (c *Client) fault(job Call, err error) fault {
	kind := job.kind(err)
	if kind == model.CallTimeout {
		kind = model.Overloaded
	}
	text := err.Error()
	if sent, ok := errors.AsType[*Error](err); ok {
		text = sent.Error() // without the context added by callers
	}
	return fault{kind, excerpt(c.Redact(text), 300), serverWait(err)}
}

// found returns the typed failure behind the error of an attempt.
func (c *Client) found(ctx context.Context, err error, last *attemptState) error {
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

// serverWait returns how long the server asked to wait.
func serverWait(err error) time.Duration {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.RetryAfter
	}
	return 0
}

type attemptKey struct{}

// attemptState passes data between an attempt and its requests, through libraries that know neither. It has the last typed
// failure, because some libraries convert errors to text.
type attemptState struct {
	noResend   bool   // Call.NoResend
	responding func() // called when the server starts to respond

	mu  sync.Mutex
	err *Error
}

func (r *attemptState) get() *Error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

func isNoResend(ctx context.Context) bool {
	r, ok := ctx.Value(attemptKey{}).(*attemptState)
	return ok && r.noResend
}

// responding tells the breaker that the server starts to respond.
func responding(ctx context.Context) {
	if r, ok := ctx.Value(attemptKey{}).(*attemptState); ok {
		r.responding()
	}
}

func recordError(ctx context.Context, err *Error) {
	if r, ok := ctx.Value(attemptKey{}).(*attemptState); ok {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.err = err
	}
}
