package call

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/internal/wire"
)

// Caller makes the calls of one llm. It is safe for concurrent use.
type Caller struct {
	Wire  *wire.Client
	Model string // its name, for messages

	// Type says what a failure means that is no *model.Error yet; nil =
	// it does not know.
	Type func(error) *model.Error

	// Tell may add to a typed failure what helps to mend it. Nil adds nothing.
	Tell func(*model.Error, error)

	// Again says that a failure may pass though its kind is not a retryable one.
	// Nil = none does.
	Again func(error) bool
}

// Reply makes a call that gives a reply; attempt makes one attempt of it, with
// ctx on its requests. Where a budget pays for one attempt, what may be billed is
// not repeated. The error is a *model.Error, unless ctx ended it.
func (c *Caller) Reply(ctx context.Context, req *model.Request, attempt func(context.Context) (*model.Reply, error)) (*model.Reply, error) {
	started := time.Now()
	var out *model.Reply
	attempts, err := c.call(ctx, wire.Job{
		Tokens: req.Estimate() + expectedOutput(req), Elsewhere: req.Fallback, Made: req.Made, Once: req.Metered,
		Again: func(err error) bool { return c.again(err) && (!req.Metered || !billable(err)) },
		Grant: func(err error) bool { return granted(ctx, err) },
		Do: func(ctx context.Context) (used int, err error) {
			if out, err = attempt(ctx); err != nil {
				return 0, err
			}
			Finish(req, out)
			return out.Reported(), nil
		},
	})
	if err != nil {
		return nil, err
	}
	out.Latency, out.Uncounted, out.Sent = time.Since(started), uncounted(out), uncountedInput(req, out)
	if attempts > 1 {
		out.Attempts = attempts
	}
	return out, nil
}

// expectedOutput is the output tokens that a rate limit sets aside: what a budget
// leaves is far more than most replies take.
func expectedOutput(req *model.Request) int {
	if req.Bounded {
		return min(req.Params.MaxOutputTokens, model.DefaultOutput)
	}
	return req.Params.MaxOutputTokens
}

// Do makes a call that is expected to take so many tokens; attempt returns how
// many one took, 0 where that is not known. attempts counts them. Where a budget
// pays for one attempt (model.Metered), what may be billed is not repeated.
func (c *Caller) Do(ctx context.Context, tokens int, attempt func(context.Context) (used int, err error)) (attempts int, err error) {
	metered := model.Metered(ctx)
	return c.call(ctx, wire.Job{
		Tokens: tokens, Do: attempt, Once: metered,
		Again: func(err error) bool { return c.again(err) && (!metered || !billable(err)) },
		Grant: func(err error) bool { return granted(ctx, err) },
	})
}

// call performs a job whose failures are typed.
func (c *Caller) call(ctx context.Context, job wire.Job) (attempts int, err error) {
	attempt := job.Do
	job.Kind = kind
	job.Do = func(ctx context.Context) (int, error) {
		used, err := attempt(ctx)
		if err != nil && ctx.Err() == nil { // else the transport wraps ctx's error
			err = c.failure(err)
		}
		return used, err
	}
	job.Waits = func(n, most int, wait time.Duration, err error) {
		if held, ok := errors.AsType[*wire.Error](err); ok && errors.Is(err, wire.ErrOpen) {
			err = Refused(held)
		}
		model.NoticeRetry(ctx, model.RetryEvent{Attempt: n, MaxAttempts: most, Wait: wait.Milliseconds(), Error: err.Error()})
	}
	attempts, err = c.Wire.Call(ctx, job)
	if err == nil {
		return attempts, nil
	}
	if held, ok := errors.AsType[*wire.Error](err); ok && ctx.Err() == nil && errors.Is(err, wire.ErrOpen) {
		err = Refused(held)
	}
	if known, ok := errors.AsType[*model.Error](err); ok {
		known.Attempts = attempts
		if long, ok := errors.AsType[*wire.LongWaitError](err); ok {
			known.Message += "; " + long.Says
			err = long.Err
		}
		return attempts, err
	}
	return attempts, fmt.Errorf("model %s: %w", c.Model, err)
}

// failure types what went wrong in one attempt.
func (c *Caller) failure(err error) error {
	known, ok := errors.AsType[*model.Error](err)
	if !ok && c.Type != nil {
		known = c.Type(err)
	}
	if known == nil {
		known = Bad("the server's answer cannot be read: %s", err)
		known.Err = err
	}
	if q, ok := errors.AsType[*quoting](known.Err); ok && known.Message == q.Error() {
		known.Message = q.clean(c.Wire.Redact)
	}
	if c.Tell != nil {
		c.Tell(known, err)
	}
	known.Message = shortened(c.Wire.Redact(known.Message))
	if sent, ok := errors.AsType[*wire.Error](err); ok {
		known.Unsent = sent.Unsent
	}
	return known
}

// again says whether the same request may succeed a moment later.
func (c *Caller) again(err error) bool {
	if sent, ok := errors.AsType[*wire.Error](err); ok && (sent.Final || errors.Is(sent, wire.ErrOpen)) {
		return !sent.Final
	}
	known, ok := errors.AsType[*model.Error](err)
	return ok && known.Retryable() || c.Again != nil && c.Again(err)
}

// billable says that a failed attempt may be on the bill all the same.
func billable(err error) bool {
	known, ok := errors.AsType[*model.Error](err)
	return ok && known.MaybeBilled()
}

// granted says whether the run behind ctx may repeat an attempt; of one that was
// not sent there is nothing to repeat.
func granted(ctx context.Context, err error) bool {
	if errors.Is(err, wire.ErrOpen) {
		return true
	}
	used, ok := model.RetriesOf(ctx).Take()
	if known, typed := errors.AsType[*model.Error](err); !ok && typed {
		known.Message += "; " + used
	}
	return ok
}

// kind is the kind of a typed failure, in the transport's words.
func kind(err error) model.ErrorKind {
	if known, ok := errors.AsType[*model.Error](err); ok {
		return known.Kind
	}
	return model.BadReply
}

// Refused is a request that the transport reports as failed, as its status has it.
func Refused(w *wire.Error) *model.Error {
	return &model.Error{
		Kind: w.Kind, Status: w.Status, RetryAfter: w.RetryAfter,
		Message: w.Message, RequestID: w.RequestID, Unsent: w.Unsent, Err: w,
	}
}
