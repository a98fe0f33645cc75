package scripted

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/pexctl/pex/engine/model"
)

// script tracks the remaining replies of a run. Safe for concurrent use.
type script struct {
	model *chatModel

	mu             sync.Mutex
	remaining      []int // how often each reply may still be used; -1 = always
	firstRemaining int   // all replies before this index are used up
	env            map[string]any
}

var (
	_ model.Model     = (*script)(nil)
	_ model.RunScoped = (*script)(nil)
	_ model.Sequenced = (*script)(nil)
)

func newScript(m *chatModel) *script {
	s := &script{model: m, remaining: make([]int, len(m.replies)), env: make(map[string]any, 4)}
	for i, r := range m.replies {
		s.remaining[i] = r.times
		if r.times == 0 {
			s.remaining[i] = -1
		}
	}
	return s
}

// ForRun implements model.RunScoped: it returns a script without used replies.
func (s *script) ForRun(string) model.Model { return newScript(s.model) }

// Generate implements model.Model.
func (s *script) Generate(ctx context.Context, req *model.Request, stream func(model.Delta)) (*model.Reply, error) {
	return s.Choose(req).Generate(ctx, req, stream)
}

// Choose implements model.Sequenced. It takes the first remaining reply that matches. If
// that is a retryable error it continues as a transport would, adding the waits to the
// answer's delay. If no reply is left for a retry, the call fails with the error.
func (s *script) Choose(req *model.Request) model.Model {
	s.mu.Lock()
	defer s.mu.Unlock()
	retry := s.model.retry
	a := &answer{model: s.model}
	wait := time.Duration(0)
	for {
		r, err := s.take(req)
		if err != nil {
			if a.fault == nil {
				a.fault = err
			}
			return a
		}
		a.attempts++
		a.delay += wait + r.delay
		a.reply, a.fault = r, r.fault
		attempts := req.PriorAttempts + a.attempts
		if r.fault == nil || !r.fault.Retryable() || attempts >= retry.MaxAttempts || req.Metered && r.fault.MaybeBilled() {
			return a
		}
		if advice := retry.TooLong(r.fault.RetryAfter); advice != "" {
			fault := *r.fault
			fault.Message += "; " + advice
			a.fault = &fault
			return a
		}
		wait = retry.Delay(attempts, r.fault.RetryAfter, nil)
	}
}

// take uses the first reply that matches.
func (s *script) take(req *model.Request) (*reply, *model.Error) {
	i, err := s.find(req)
	if err != nil {
		return nil, &model.Error{Kind: model.NoReply, Message: err.Error(), Err: err}
	}
	if i < 0 {
		return nil, s.noReply(req)
	}
	if s.remaining[i] > 0 {
		s.remaining[i]--
	}
	for s.firstRemaining < len(s.remaining) && s.remaining[s.firstRemaining] == 0 {
		s.firstRemaining++
	}
	return &s.model.replies[i], nil
}

// find returns the index of the first remaining reply that matches, or -1.
func (s *script) find(req *model.Request) (int, error) {
	clear(s.env)
	prepared, rendered := false, false
	for i := s.firstRemaining; i < len(s.remaining); i++ {
		r := &s.model.replies[i]
		if s.remaining[i] == 0 || r.role != "" && r.role != req.Role {
			continue
		}
		if r.when.IsZero() {
			return i, nil
		}
		if !prepared {
			s.env["role"], s.env["call"], s.env["step"], s.env["prompt"] = req.Role, req.Call, req.Step, ""
			prepared = true
		}
		if r.prompt && !rendered {
			s.env["prompt"] = prompt(req)
			rendered = true
		}
		ok, err := r.when.Eval(s.env)
		if err != nil {
			return 0, fmt.Errorf("condition of reply %d of the script (%s): %w", i+1, r.when.Source, err)
		}
		if ok {
			return i, nil
		}
	}
	return -1, nil
}

// noReply returns the error if no reply is left or matches.
func (s *script) noReply(req *model.Request) *model.Error {
	left, ofRole := 0, 0
	for i, r := range s.model.replies {
		if r.role == "" || r.role == req.Role {
			ofRole++
			if s.remaining[i] != 0 {
				left++
			}
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "the script of %s has no reply left for the %s's call %d", s.model.name, req.Role, req.Call)
	if req.Step != "" {
		fmt.Fprintf(&b, " in step %q", req.Step)
	}
	fmt.Fprintf(&b, "; of its %d replies %d are for this role", len(s.model.replies), ofRole)
	add := fmt.Sprintf(": add a reply such as {role: %s, text: ...}", req.Role)
	switch {
	case left > 0:
		fmt.Fprintf(&b, ", %d of them not used up, but no condition holds%s, or loosen a `when:`", left, add)
	case ofRole > 0:
		fmt.Fprintf(&b, ", all used up%s, or set `times: 0` on one", add)
	default:
		b.WriteString(add)
	}
	return &model.Error{Kind: model.NoReply, Message: b.String()}
}
