package httpclient

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/pexctl/pex/engine/model"
)

// Call is one logical call: what its attempts do and when they are repeated.
type Call struct {
	// Tokens is what the call is expected to take from the rate limit.
	Tokens int
	// Do makes one attempt, from building the request to reading the last byte
	// of the answer, with ctx on its requests. It returns the tokens really
	// used, 0 where that is not known.
	Do func(ctx context.Context) (tokens int, err error)
	// Retryable says whether an error may pass, and is asked before each repeat;
	// nil = a retryable *Error.
	Retryable func(error) bool
	// Grant is asked last before each repeat and may refuse it; nil = all are granted.
	Grant func(error) bool
	// Waits is called before each wait that precedes an attempt: n is the number
	// of that attempt, of at most most, err why it has to wait; nil = waits are not reported.
	Waits func(n, most int, wait time.Duration, err error)
	// Kind is the kind of a failure; nil = an *Error's, BadReply of any other.
	Kind func(error) model.ErrorKind
	// PriorAttempts is how many attempts of the call the caller made before: they count
	// as attempts of the client's Retry.
	PriorAttempts int
	// HasFallback says that the caller has somebody else to ask: an open breaker
	// ends the call at once instead of keeping it waiting.
	HasFallback bool
	// NoResend says that a budget pays for one request: it is not sent anew on
	// another connection where the server may have read it.
	NoResend bool
}

// kind is the kind of a failure of the job.
func (j *Call) kind(err error) model.ErrorKind {
	if j.Kind != nil {
		return j.Kind(err)
	}
	if sent, ok := errors.AsType[*Error](err); ok {
		return sent.Kind
	}
	return model.BadReply
}

// Call performs a job: it waits for the breaker and the rate limit, makes an
// attempt, and repeats it after a wait as the client's Retry says. attempts
// counts those for which something could be sent. Where Do lost the type of a
// failed request, the error is that request's *Error. When ctx ends the call,
// the error wraps ctx.Err().
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
			return attempts, h.elsewhere()
		}
		if long := impatient(c.s.Retry, err); long != nil {
			return attempts, long
		}
		if job.Grant != nil && !job.Grant(err) {
			return attempts, err
		}
		wait := c.s.Retry.Delay(n, wished(err), c.s.Random)
		if end, ok := ctx.Deadline(); ok && time.Until(end) < wait {
			return attempts, err
		}
		if stop := c.wait(ctx, &job, n+1, wait, err); stop != nil {
			return attempts, ended(stop, err)
		}
	}
}

// wait waits before attempt n, because of err.
func (c *Client) wait(ctx context.Context, job *Call, n int, wait time.Duration, err error) error {
	if job.Waits != nil {
		job.Waits(n, max(c.s.Retry.MaxAttempts, 1), wait, err)
	}
	return c.s.Sleep(ctx, wait)
}

// ended is a call that ctx ended while it waited to repeat what had failed.
func ended(stop, after error) error {
	return fmt.Errorf("%w while waiting to repeat after: %w", stop, after)
}

// attempt makes one attempt, once the breaker and the rate limit let it through.
func (c *Client) attempt(ctx context.Context, job Call) error {
	a, err := c.admit(ctx, job)
	if err != nil {
		return err
	}
	used, says, what := 0, errAside, fault{} // if Do does not return
	defer func() {
		a.end(says, what) // first: whoever gets its place looks at the breaker
		a.release(used)
	}()
	last := record{once: job.NoResend, works: a.works}
	used, err = job.Do(context.WithValue(ctx, recordKey{}, &last))
	err = c.found(ctx, err, &last)
	if says = c.says(ctx, job, err); says != nil {
		what = c.fault(job, err)
	}
	return err
}

// fault is a failure as the breaker tells it to others. Who was not asked may
// ask again, also where the one who was may not.
func (c *Client) fault(job Call, err error) fault {
	kind := job.kind(err)
	if kind == model.CallTimeout {
		kind = model.Overloaded
	}
	text := err.Error()
	if sent, ok := errors.AsType[*Error](err); ok {
		text = sent.Error() // without what was said around it
	}
	return fault{kind, excerpt(c.Redact(text), 300), wished(err)}
}

// found is the typed failure behind the error of an attempt.
func (c *Client) found(ctx context.Context, err error, last *record) error {
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

// record is what an attempt and its requests tell each other, through libraries
// that know of neither. It keeps the last typed failure: some of them turn it
// into text on its way up.
type record struct {
	once  bool   // as the job has it
	works func() // to be called when the server begins to answer

	mu  sync.Mutex
	err *Error
}

func (r *record) get() *Error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

func isOnce(ctx context.Context) bool {
	r, ok := ctx.Value(recordKey{}).(*record)
	return ok && r.once
}

// works tells the breaker that the server begins to answer.
func works(ctx context.Context) {
	if r, ok := ctx.Value(recordKey{}).(*record); ok {
		r.works()
	}
}

func remember(ctx context.Context, err *Error) {
	if r, ok := ctx.Value(recordKey{}).(*record); ok {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.err = err
	}
}
