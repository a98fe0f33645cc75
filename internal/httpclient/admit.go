package httpclient

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/pexctl/pex/engine/model"
)

// permit is the permission to send an attempt now.
type permit struct {
	release func(used int)
	trialResult
}

// admit waits until the breaker and the rate limit allow an attempt. If the breaker is open, the attempt waits for
// the trial call and fails if that fails, or immediately if the wait is too long. A failed attempt is repeated like
// any other, so no call ends earlier than without a breaker. A call with a fallback does not wait.
func (c *Client) admit(ctx context.Context, job Call) (permit, error) {
	var waited time.Time
	h, lost := c.s.Breaker.look(waited)
	for {
		for h != nil {
			if err := c.await(ctx, job, h, lost); err != nil {
				return permit{}, err
			}
			waited = h.until
			h, _ = c.s.Breaker.look(waited)
		}
		release, err := c.s.Limiter.Acquire(ctx, job.Tokens)
		if err != nil {
			return permit{}, err
		}
		var t trialResult
		if t, h = c.s.Breaker.pass(waited); h == nil {
			return permit{release, t}, nil
		}
		release(unsentCall)
	}
}

// await waits at an open breaker. lost is the number of failed trial calls when the attempt started.
func (c *Client) await(ctx context.Context, job Call, h *block, lost int) error {
	if job.HasFallback {
		return h.failFast()
	}
	if h.failedTrials > lost {
		return h.err
	}
	if h.changed != nil {
		select {
		case <-h.changed:
			return nil
		case <-ctx.Done():
			return ended(ctx.Err(), h.err)
		}
	}
	if h.long {
		h.err.RetryAfter = 0 // not requested by the server
		return h.err
	}
	wait := time.Until(h.until)
	if h.serverAsked && c.s.Retry.TooLong(wait) != "" {
		h.err.Final = true
		return h.err
	}
	if end, ok := ctx.Deadline(); ok && time.Until(end) < wait {
		return h.err
	}
	if err := c.wait(ctx, &job, job.PriorAttempts+1, wait, h.err); err != nil {
		return ended(err, h.err)
	}
	return nil
}

// outcome returns the outcome of an attempt for the breaker: nil, errAside or errFailed.
func (c *Client) outcome(ctx context.Context, job Call, err error) error {
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return errIrrelevant
	}
	sent, ok := errors.AsType[*Error](err)
	if !ok {
		sent = &Error{}
	}
	switch job.kind(err) {
	case model.Overloaded, model.ServerError, model.NetworkError, model.Truncated:
		if sent.Status >= http.StatusBadRequest && sent.Status < http.StatusInternalServerError {
			return nil
		}
	case model.CallTimeout:
		if !sent.silent {
			return errIrrelevant
		}
	case model.AuthError, model.Interrupted:
		return errIrrelevant // keys are checked before the model is called, and other calls may have other keys
	case model.RateLimited, model.NotFound, model.BadRequest, model.ContextTooLong, model.BadReply, model.NoReply:
		return nil
	}
	if sent.Final {
		return errIrrelevant // a local error, reported immediately to every caller
	}
	return errFailed
}
