package runtime

import (
	"errors"
	"fmt"
	"strings"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/kernel"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/modelrecord"
	"github.com/pexctl/pex/engine/runtime/redact"
)

// withRetry repeats a call whose outcome is unknown: its session ended, or the connection
// broke under a budget. Each attempt has its own reservation, since each may have been
// billed. The provider retries other failures itself.
type withRetry struct{ next modelStage }

func (w withRetry) ask(s *scope, q *modelQuery) (*model.Reply, error) {
	for {
		reply, err := w.next.ask(s, q)
		f, failed := errors.AsType[*journal.Failure](err)
		if !failed {
			return reply, err
		}
		if err := s.prepareRetry(q, f); err != nil {
			return nil, err
		}
	}
}

// maxUnknown is how many attempts of a call may have an unknown outcome before it fails: the call
// itself may be what ends each worker.
const maxUnknown = 5

// prepareRetry waits until a failed call may be repeated. It returns an error if it may not.
func (s *scope) prepareRetry(q *modelQuery, f *journal.Failure) error {
	spec, at := q.llm.spec, q.attempt
	q.attempt.Nth++
	if f.Code == kernel.FailureUnknown {
		q.attempt.LastErr = nil
		if q.unknown++; q.unknown > maxUnknown {
			return fmt.Errorf("llm %s: %w", spec.Name, &model.Error{Kind: model.NetworkError, Message: f.Message, Attempts: q.attempt.Nth})
		}
		return nil
	}
	me := modelrecord.DecodeError(f)
	q.attempt.LastErr = me
	q.attempt.Requests += max(1, me.Attempts)
	me.Attempts = q.attempt.Requests
	if !me.Charged || !me.Retryable() || q.attempt.Requests >= spec.Retry.MaxAttempts {
		return fmt.Errorf("llm %s: %w", spec.Name, me)
	}
	if says := spec.Retry.TooLong(me.RetryAfter); says != "" {
		me.Message += "; " + says
		return fmt.Errorf("llm %s: %w", spec.Name, me)
	}
	q.llm.chosen = nil
	wait := max(spec.Retry.Backoff(q.attempt.Requests), me.RetryAfter)
	if !s.k.Replaying() && s.r.opts.Follow == nil {
		ev := engine.Event{Type: engine.ModelRetrying, Model: spec.Name, Role: q.call.Role}
		e := model.RetryEvent{Attempt: q.attempt.Requests + 1, MaxAttempts: spec.Retry.MaxAttempts, Wait: engine.Milliseconds(wait), Error: me.Error()}
		s.transientSender(at.path())(retryEvent(ev, e, redact.Mask{}))
	}
	return s.Sleep(at.path()+".pause", wait)
}

// attempt is one attempt of a call that the engine repeats, numbered from 0.
type attempt struct {
	Name     string       `json:"name"` // of the call
	Nth      int          `json:"nth,omitempty"`
	Requests int          `json:"requests,omitempty"`   // sent by earlier attempts, as far as known
	LastErr  *model.Error `json:"last_error,omitempty"` // failure of the attempt before; nil = none, or unknown
}

// begin counts the call, or takes one from the retry allowance. It returns an error if
// none is left.
func (a attempt) begin(r *model.Retries) *model.Error {
	if a.Nth == 0 {
		r.AddCall()
	}
	if a.LastErr == nil {
		return nil
	}
	used, ok := r.Take()
	if ok {
		return nil
	}
	me := *a.LastErr
	me.Message, me.NotSent, me.Charged = me.Message+"; "+used, true, false
	return &me
}

// path returns the name of the attempt's effect.
func (a attempt) path() string {
	if a.Nth == 0 {
		return a.Name
	}
	return fmt.Sprintf("%s.again.%d", a.Name, a.Nth)
}

// key returns the idempotency key of the call, which all its attempts share.
func (a attempt) key(own string) string {
	if a.Nth == 0 {
		return own
	}
	return strings.TrimSuffix(own, a.path()) + a.Name
}
