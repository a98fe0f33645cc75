package scripted

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/pexctl/pex/engine/model"
)

// script is what is left of a model's replies. Safe for concurrent use.
type script struct {
	model *chatModel

	mu    sync.Mutex
	left  []int // per reply how often it may still be taken, -1 = always
	first int   // all replies before it are used up
	env   map[string]any
}

var (
	_ model.Model     = (*script)(nil)
	_ model.RunScoped = (*script)(nil)
	_ model.Sequenced = (*script)(nil)
)

func newScript(m *chatModel) *script {
	s := &script{model: m, left: make([]int, len(m.replies)), env: make(map[string]any, 4)}
	for i, r := range m.replies {
		s.left[i] = r.times
		if r.times == 0 {
			s.left[i] = -1
		}
	}
	return s
}

// ForRun implements model.RunScoped: a script of which nothing is used up yet.
func (s *script) ForRun(string) model.Model { return newScript(s.model) }

// Generate implements model.Model: it chooses and answers at once.
func (s *script) Generate(ctx context.Context, req *model.Request, stream func(model.Delta)) (*model.Reply, error) {
	return s.Choose(req).Generate(ctx, req, stream)
}

// Choose implements model.Sequenced. It takes the first reply left that
// matches; where that is an error that a transport would repeat, it goes on as
// the transport would, and the waits add up in the answer's delay. A script
// that has nothing for a repeat leaves the call with the error it had.
func (s *script) Choose(req *model.Request) model.Model {
	s.mu.Lock()
	defer s.mu.Unlock()
	retry := s.model.retry
	a := &answer{model: s.model}
	pause := time.Duration(0)
	for {
		r, err := s.take(req)
		if err != nil {
			if a.fault == nil {
				a.fault = err
			}
			return a
		}
		a.attempts++
		a.delay += pause + r.delay
		a.reply, a.fault = r, r.fault
		made := req.Made + a.attempts
		if r.fault == nil || !r.fault.Retryable() || made >= retry.MaxAttempts || req.Metered && r.fault.MaybeBilled() {
			return a
		}
		if says := retry.TooLong(r.fault.RetryAfter); says != "" {
			fault := *r.fault
			fault.Message += "; " + says
			a.fault = &fault
			return a
		}
		pause = retry.Delay(made, r.fault.RetryAfter, nil)
	}
}

// take uses up the first reply that matches.
func (s *script) take(req *model.Request) (*reply, *model.Error) {
	i, err := s.find(req)
	if err != nil {
		return nil, &model.Error{Kind: model.NoReply, Message: err.Error(), Err: err}
	}
	if i < 0 {
		return nil, s.none(req)
	}
	if s.left[i] > 0 {
		s.left[i]--
	}
	for s.first < len(s.left) && s.left[s.first] == 0 {
		s.first++
	}
	return &s.model.replies[i], nil
}

// find gives the first reply left that matches, -1 where there is none.
func (s *script) find(req *model.Request) (int, error) {
	clear(s.env)
	prepared, rendered := false, false
	for i := s.first; i < len(s.left); i++ {
		r := &s.model.replies[i]
		if s.left[i] == 0 || r.role != "" && r.role != req.Role {
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

// none says what the script lacks.
func (s *script) none(req *model.Request) *model.Error {
	left, ofRole := 0, 0
	for i, r := range s.model.replies {
		if r.role == "" || r.role == req.Role {
			ofRole++
			if s.left[i] != 0 {
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
