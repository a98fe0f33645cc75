package httpclient

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/pexctl/pex/engine/model"
)

// admission is an attempt that may be sent now.
type admission struct {
	release func(used int)
	ticket
}

// admit waits until the breaker and the rate limit let an attempt through. An
// attempt that finds the breaker open waits a while for the one that tries the
// server, and fails when that one fails, or at once where it would be long until
// there is one: it is then repeated as any other that failed, so that no call
// ends sooner than it would have by its own attempts. A call that has somebody
// else to ask does not wait.
func (c *Client) admit(ctx context.Context, job Call) (admission, error) {
	var waited time.Time
	h, lost := c.s.Breaker.look(waited)
	for {
		for h != nil {
			if err := c.await(ctx, job, h, lost); err != nil {
				return admission{}, err
			}
			waited = h.until
			h, _ = c.s.Breaker.look(waited)
		}
		release, err := c.s.Limiter.Acquire(ctx, job.Tokens)
		if err != nil {
			return admission{}, err
		}
		var t ticket
		if t, h = c.s.Breaker.pass(waited); h == nil {
			return admission{release, t}, nil
		}
		release(unsentCall)
	}
}

// await waits at an open breaker; lost is how many had failed in trying the
// server when the attempt began.
func (c *Client) await(ctx context.Context, job Call, h *hold, lost int) error {
	if job.HasFallback {
		return h.elsewhere()
	}
	if h.lost > lost {
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
		h.err.RetryAfter = 0 // nobody asked for it
		return h.err
	}
	wait := time.Until(h.until)
	if h.asked && c.s.Retry.TooLong(wait) != "" {
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

// says is what the end of an attempt says of the server.
func (c *Client) says(ctx context.Context, job Call, err error) error {
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return errAside
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
			return errAside
		}
	case model.AuthError:
		return errAside // keys are checked before the model is asked, and others have other keys
	case model.RateLimited, model.NotFound, model.BadRequest, model.ContextTooLong, model.BadReply, model.NoReply:
		return nil
	}
	if sent.Final {
		return errAside // wrong here, and told at once to whoever tries
	}
	return errFailed
}
