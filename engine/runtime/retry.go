package runtime

import (
	"errors"
	"fmt"
	"strings"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/kernel"
	"github.com/pexctl/pex/engine/model"
)

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

// insist performs a call, and again where it is not known what came of it: a
// session that had begun it ended meanwhile, or the connection broke under a
// budget. Each attempt reserves for itself, since each may have been billed.
// Other failures are repeated by the provider.
func (s *scope) insist(name string, nth int, m boundModel, c model.Call) (*model.Reply, error) {
	made := 0
	var last *model.Error
	for n := 0; ; n++ {
		at := attempt{name, n, made, last}
		reply, err := s.call(at, nth, &m, c)
		f, failed := errors.AsType[*journal.Failure](err)
		if !failed {
			return reply, err
		}
		if f.Code == kernel.FailureUnknown {
			last = nil
			continue
		}
		me := keptModelError(f)
		last = me
		made += max(1, me.Attempts)
		if !me.Charged || !me.Retryable() || made >= m.spec.Retry.MaxAttempts {
			return nil, fmt.Errorf("llm %s: %w", m.spec.Name, me)
		}
		if says := m.spec.Retry.TooLong(me.RetryAfter); says != "" {
			me.Message += "; " + says
			return nil, fmt.Errorf("llm %s: %w", m.spec.Name, me)
		}
		m.chosen = nil
		wait := max(m.spec.Retry.Backoff(made+1), me.RetryAfter)
		if !s.k.Replaying() && s.r.opts.Follow == nil {
			ev := engine.Event{Type: engine.ModelRetrying, Model: m.spec.Name, Role: c.Role}
			e := model.RetryEvent{Attempt: made + 1, MaxAttempts: m.spec.Retry.MaxAttempts, Wait: engine.Milliseconds(wait), Error: me.Error()}
			s.transients(at.path())(retrying(ev, e, mask{}))
		}
		if err := s.Sleep(at.path()+".pause", wait); err != nil {
			return nil, err
		}
	}
}

// choose is the model that performs a call: of one that chooses, what it chose
// for this call, also when it is performed again.
func (m *boundModel) choose(req *model.Request) model.Model {
	if m.chosen == nil {
		m.chosen = m.model
		if seq, ok := m.model.(model.Sequenced); ok {
			m.chosen = seq.Choose(req)
		}
	}
	return m.chosen
}
