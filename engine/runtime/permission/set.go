package permission

import (
	"sync"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/exprenv"
	"github.com/pexctl/pex/engine/interrupt"
)

// Set has the rules of a run and of the agents that it calls, and the authors of the run.
// Sessions use it before a decision is journaled, and responders before they take an
// answer. It is safe for concurrent use; the zero value is ready to use.
type Set struct {
	mu      sync.Mutex
	authors interrupt.Authors
	rules   map[string]*About // by path of the question or write
}

// About is the rule of one question or write, and what the rule can read.
type About struct {
	Rule       interrupt.Rule
	Kind       interrupt.Kind
	Parameters map[string]any
	Call       *exprenv.Tool // nil = it is not about a call
}

// Start sets who started the run, and the authors of what it continues.
func (s *Set) Start(in *engine.Input) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if in.By != nil {
		s.authors.Started = *in.By
	}
	s.authors.Changed = append(s.authors.Changed, in.Authors...)
}

// AddAuthor adds an actor who changed the run; nil = unknown.
func (s *Set) AddAuthor(by *engine.Actor) {
	if by == nil {
		by = &engine.Actor{}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.authors.Changed = append(s.authors.Changed, *by)
}

// Restrict sets the rule of the question or write at a path.
func (s *Set) Restrict(path string, about About) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.rules == nil {
		s.rules = map[string]*About{}
	}
	s.rules[path] = &about
}

// Permit returns nil if by may give an answer, otherwise an *interrupt.NotApproverError.
// Everyone may deny.
func (s *Set) Permit(path string, by engine.Actor, do string) error {
	s.mu.Lock()
	a, authors := s.rules[path], s.authors
	s.mu.Unlock()
	if a == nil || a.Kind.Denies(do) {
		return nil
	}
	env := map[string]any{"parameters": a.Parameters, "by": by.Env(), "run": exprenv.AskedRun{By: authors.Started.Env()}}
	if a.Call != nil {
		env["tool"] = *a.Call
	}
	return a.Rule.Check(path, by, authors, env)
}

// Describe adds the rule of its path to a question.
func (s *Set) Describe(q *interrupt.Question) {
	rule, ok := s.rule(q.Path)
	if !ok {
		return
	}
	path := q.Path
	q.Approvers, q.FourEyes = rule.Approvers.Source, rule.FourEyes
	q.Permits = func(by engine.Actor, do string) error { return s.Permit(path, by, do) }
}

// Restricted reports whether the question or write at a path has a rule.
func (s *Set) Restricted(path string) bool {
	_, ok := s.rule(path)
	return ok
}

// Journaled returns the author of a decision as the journal stores it: with the roles and
// the tenant that the rule reads.
func (s *Set) Journaled(path string, by engine.Actor) engine.Actor {
	rule, _ := s.rule(path)
	return by.As(rule.Approvers.Source)
}

func (s *Set) rule(path string) (interrupt.Rule, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if a := s.rules[path]; a != nil {
		return a.Rule, true
	}
	return interrupt.Rule{}, false
}
