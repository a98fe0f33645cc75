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

// withRetry repeats a call whose outcome is unknown: the session that had begun it
// ended meanwhile, or the connection broke under a budget. Each attempt reserves for
// itself, since each may have been billed. Other failures are repeated by the
// provider.
type withRetry struct{ next modelStage }

func (w withRetry) ask(s *scope, q *modelQuery) (*model.Reply, error) {
	spec := q.llm.spec
	for {
		reply, err := w.next.ask(s, q)
		f, failed := errors.AsType[*journal.Failure](err)
		if !failed {
			return reply, err
		}
		at := q.attempt
		q.attempt.n++
		if f.Code == kernel.FailureUnknown {
			q.attempt.after = nil
			continue
		}
		me := modelrecord.DecodeError(f)
		q.attempt.after = me
		q.attempt.made += max(1, me.Attempts)
		if !me.Charged || !me.Retryable() || q.attempt.made >= spec.Retry.MaxAttempts {
			return nil, fmt.Errorf("llm %s: %w", spec.Name, me)
		}
		if says := spec.Retry.TooLong(me.RetryAfter); says != "" {
			me.Message += "; " + says
			return nil, fmt.Errorf("llm %s: %w", spec.Name, me)
		}
		q.llm.chosen = nil
		wait := max(spec.Retry.Backoff(q.attempt.made), me.RetryAfter)
		if !s.k.Replaying() && s.r.opts.Follow == nil {
			ev := engine.Event{Type: engine.ModelRetrying, Model: spec.Name, Role: q.call.Role}
			e := model.RetryEvent{Attempt: q.attempt.made + 1, MaxAttempts: spec.Retry.MaxAttempts, Wait: engine.Milliseconds(wait), Error: me.Error()}
			s.transients(at.path())(retrying(ev, e, redact.Mask{}))
		}
		if err := s.Sleep(at.path()+".pause", wait); err != nil {
			return nil, err
		}
	}
}

// attempt is one of the attempts that a call takes which the engine repeats
// itself, from 0.
type attempt struct {
	name  string
	n     int
	made  int          // requests that earlier ones made, as far as that is known
	after *model.Error // the failure that it repeats; nil = there was none, or it is not known
}

// begin notes a call, or takes a repeat; the error says that there is none left.
func (a attempt) begin(r *model.Retries) *model.Error {
	if a.n == 0 {
		r.Called()
	}
	if a.after == nil {
		return nil
	}
	used, ok := r.Take()
	if ok {
		return nil
	}
	me := *a.after
	me.Message, me.Unsent, me.Charged = me.Message+"; "+used, true, false
	return &me
}

// path is the name of the attempt's effect.
func (a attempt) path() string {
	if a.n == 0 {
		return a.name
	}
	return fmt.Sprintf("%s.again.%d", a.name, a.n)
}

// key is the idempotency key of the call, which all its attempts share.
func (a attempt) key(own string) string {
	if a.n == 0 {
		return own
	}
	return strings.TrimSuffix(own, a.path()) + a.name
}
