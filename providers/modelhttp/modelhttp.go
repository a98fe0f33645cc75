package modelhttp

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/internal/httpclient"
)

// Client makes the calls of one LLM. It is safe for concurrent use.
type Client struct {
	HTTP  *httpclient.Client
	Model string // name for messages

	// Type converts a failure that is not a *model.Error yet; it returns nil if unknown,
	// and may be nil.
	Type func(error) *model.Error

	// Explain may add help to a typed failure. May be nil.
	Explain func(*model.Error, error)

	// Retryable reports whether a failure is temporary although its kind is not retryable.
	// May be nil.
	Retryable func(error) bool
}

// Reply makes a call that returns a reply. attempt makes one attempt; its requests must use the ctx that it receives.
// If the request is metered, an attempt that may be billed is not retried. The error is a *model.Error, unless ctx
// ended.
func (c *Client) Reply(ctx context.Context, req *model.Request, attempt func(context.Context) (*model.Reply, error)) (*model.Reply, error) {
	started := time.Now()
	var out *model.Reply
	attempts, err := c.call(ctx, httpclient.Call{
		Tokens: req.Estimate() + expectedOutput(req), HasFallback: req.Fallback, PriorAttempts: req.PriorAttempts, NoResend: req.Metered,
		Retryable: func(err error) bool { return c.shouldRetry(err) && (!req.Metered || !billable(err)) },
		Grant:     func(err error) bool { return mayRetry(ctx, err) },
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
	out.Latency, out.Uncounted, out.Sent = time.Since(started), usageMissing(out), truncatedInput(req, out)
	if attempts > 1 {
		out.Attempts = attempts
	}
	return out, nil
}

// expectedOutput returns the output tokens to reserve at the rate limit. For a limit that a budget set, it is at most
// model.DefaultOutput, since most replies are much shorter.
func expectedOutput(req *model.Request) int {
	if req.Bounded {
		return min(req.Params.MaxOutputTokens, model.DefaultOutput)
	}
	return req.Params.MaxOutputTokens
}

// Do makes a call that is expected to take that many tokens. attempt returns the tokens used, or 0 if unknown. Do
// returns the number of attempts. If the context is metered (model.Metered), an attempt that may be billed is not
// retried.
func (c *Client) Do(ctx context.Context, tokens int, attempt func(context.Context) (used int, err error)) (attempts int, err error) {
	metered := model.Metered(ctx)
	return c.call(ctx, httpclient.Call{
		Tokens: tokens, Do: attempt, NoResend: metered,
		Retryable: func(err error) bool { return c.shouldRetry(err) && (!metered || !billable(err)) },
		Grant:     func(err error) bool { return mayRetry(ctx, err) },
	})
}

// call performs a job and types its failures.
func (c *Client) call(ctx context.Context, job httpclient.Call) (attempts int, err error) {
	attempt := job.Do
	job.Kind = kindOf
	job.Do = func(ctx context.Context) (int, error) {
		used, err := attempt(ctx)
		if err != nil && ctx.Err() == nil { // otherwise the transport wraps ctx's error
			err = c.failure(err)
		}
		return used, err
	}
	job.Waits = func(n, limit int, wait time.Duration, err error) {
		if refused, ok := errors.AsType[*httpclient.Error](err); ok && errors.Is(err, httpclient.ErrOpen) {
			err = TransportError(refused)
		}
		model.NoticeRetry(ctx, model.RetryEvent{Attempt: n, MaxAttempts: limit, Wait: wait.Milliseconds(), Error: err.Error()})
	}
	attempts, err = c.HTTP.Call(ctx, job)
	if err == nil {
		return attempts, nil
	}
	if refused, ok := errors.AsType[*httpclient.Error](err); ok && ctx.Err() == nil && errors.Is(err, httpclient.ErrOpen) {
		err = TransportError(refused)
	}
	if known, ok := errors.AsType[*model.Error](err); ok {
		known.Attempts = attempts
		if long, ok := errors.AsType[*httpclient.LongWaitError](err); ok {
			known.Message += "; " + long.Advice
			err = long.Err
		}
		return attempts, err
	}
	return attempts, fmt.Errorf("model %s: %w", c.Model, err)
}

// failure types the error of one attempt.
func (c *Client) failure(err error) error {
	known, ok := errors.AsType[*model.Error](err)
	if !ok && c.Type != nil {
		known = c.Type(err)
	}
	if known == nil {
		known = Bad("the server's reply cannot be read: %s", err)
		known.Err = err
	}
	if q, ok := errors.AsType[*badReply](known.Err); ok && known.Message == q.Error() {
		known.Message = q.redacted(c.HTTP.Redact)
	}
	if c.Explain != nil {
		c.Explain(known, err)
	}
	known.Message = shorten(c.HTTP.Redact(known.Message))
	if sent, ok := errors.AsType[*httpclient.Error](err); ok {
		known.NotSent = sent.NotSent
	}
	return known
}

// shouldRetry reports whether the same request may soon succeed.
func (c *Client) shouldRetry(err error) bool {
	if sent, ok := errors.AsType[*httpclient.Error](err); ok && (sent.Final || errors.Is(sent, httpclient.ErrOpen)) {
		return !sent.Final
	}
	known, ok := errors.AsType[*model.Error](err)
	return ok && known.Retryable() || c.Retryable != nil && c.Retryable(err)
}

// billable reports whether a failed attempt may be billed.
func billable(err error) bool {
	known, ok := errors.AsType[*model.Error](err)
	return ok && known.MaybeBilled()
}

// mayRetry reports whether the retry allowance of ctx permits a retry; a request that was
// not sent needs none.
func mayRetry(ctx context.Context, err error) bool {
	if errors.Is(err, httpclient.ErrOpen) {
		return true
	}
	used, ok := model.RetriesOf(ctx).Take()
	if known, typed := errors.AsType[*model.Error](err); !ok && typed {
		known.Message += "; " + used
	}
	return ok
}

// kindOf returns the kind of a typed failure.
func kindOf(err error) model.ErrorKind {
	if known, ok := errors.AsType[*model.Error](err); ok {
		return known.Kind
	}
	return model.BadReply
}

// TransportError returns the error for a request that the transport reports as failed.
func TransportError(w *httpclient.Error) *model.Error {
	return &model.Error{
		Kind: w.Kind, Status: w.Status, RetryAfter: w.RetryAfter,
		Message: w.Message, RequestID: w.RequestID, NotSent: w.NotSent, Err: w,
	}
}
