package engine

import (
	"fmt"
	"strings"
)

// Verdict is what the guards of a place say; the zero value is "go on".
type Verdict struct {
	Deny    bool // before_tool: the call is refused
	Replan  bool // a new plan is to be made now
	Message string
	Path    string // of the guard that says so
}

// Urge is the error by which a node passes on that a guard wants a new plan; nil
// = it wants none.
func (v Verdict) Urge() error {
	if !v.Replan {
		return nil
	}
	return &ReplanError{Path: v.Path, Message: v.Message}
}

// Guards implements Scope.
func (s *scope) Guards(at GuardPlace, env func(source string) map[string]any) (Verdict, error) {
	return s.guards(at, env, nil)
}

// guards is Guards; call holds the tool and the arguments of the call that is
// about to be made, nil where none is.
func (s *scope) guards(at GuardPlace, env func(source string) map[string]any, call *Question) (Verdict, error) {
	if err := s.boundary("guards", string(at)); err != nil {
		return Verdict{}, err
	}
	for i := range s.r.program.Guards {
		g := &s.r.program.Guards[i]
		if g.At != at || s.r.closing {
			continue
		}
		fires, err := g.When.Eval(env(g.When.Source))
		if s.r.traced() {
			s.r.trace(GuardTried{g.Index, fires && err == nil})
		}
		if err == nil && !fires {
			continue
		}
		decide := s.fire
		if err != nil {
			decide = func(g *Guard, call *Question) (Verdict, bool, error) { return s.undecided(g, call, err) }
		}
		if v, on, err := decide(g, call); !on || err != nil {
			return v, err
		}
	}
	return Verdict{}, nil
}

// undecided is what a guard does whose condition cannot be evaluated on the
// values there are. It never lets a call pass, and never ends a run as a success:
// deny denies, interrupt asks, fail fails; replan denies a call that is still to
// be made. Any other guard stops the run.
func (s *scope) undecided(g *Guard, call *Question, why error) (v Verdict, on bool, err error) {
	text := fmt.Sprintf("guard %s cannot be evaluated: %v", g.Name, why)
	s.Record(Warned{Text: text})
	stop := StopReason{Code: StopGuard, Status: Stopped, Path: g.path() + ".when", Message: text}
	switch {
	case g.Do == GuardInterrupt:
		return s.interrupt(g, call, stop)
	case g.Do == GuardDeny, g.Do == GuardReplan && g.At == BeforeTool:
		return Verdict{Deny: true, Message: text, Path: g.path()}, false, nil
	case g.Do == GuardFail:
		stop.Status = Failed
	}
	return Verdict{}, false, s.stop(&StopError{Reason: stop})
}

func (g *Guard) path() string { return fmt.Sprintf("guards[%d]", g.Index) }

func (g *Guard) text() string {
	if g.Message != "" {
		return g.Message
	}
	return "guard " + g.Name + " fired: " + g.When.Source
}

// fire does what the guard says; on = the guards behind it are tried too.
func (s *scope) fire(g *Guard, call *Question) (v Verdict, on bool, err error) {
	s.event(Event{Type: GuardFired, Guard: &GuardEvent{
		Name: g.Name, Path: g.path(), At: g.At, Do: g.Do, Message: g.Message,
	}})
	stop := StopReason{Code: StopGuard, Path: g.path(), Message: g.text()}
	switch g.Do {
	case GuardDeny:
		return Verdict{Deny: true, Message: g.text(), Path: g.path()}, false, nil
	case GuardReplan:
		return Verdict{Replan: true, Message: g.text(), Path: g.path()}, false, nil
	case GuardInterrupt:
		return s.interrupt(g, call, stop)
	case GuardSucceed:
		stop.Status = Completed
	case GuardFail:
		stop.Status = Failed
	default:
		stop.Status = Stopped
	}
	return Verdict{}, false, s.stop(&StopError{Reason: stop})
}

// interrupt asks a person whether the run may continue. Before a tool the
// question shows the call, and a denial denies that call alone; elsewhere it
// ends the run.
func (s *scope) interrupt(g *Guard, call *Question, stop StopReason) (v Verdict, on bool, err error) {
	plain := Question{Kind: AskGuard, Question: stop.Message} // as version 0.1.0 asked before a tool
	q, old := plain, (*Question)(nil)
	if call != nil {
		q.Tool, q.Args, old = call.Tool, call.Args, &plain
	}
	d, asOld, err := s.askAs("guard."+g.Name, q, old)
	if err != nil || d.Approved() {
		return Verdict{}, err == nil, err
	}
	why := d.Reason + d.Text
	if call != nil && !asOld {
		return Verdict{Deny: true, Message: strings.TrimSuffix(fmt.Sprintf("%s (a person denied it: %s", stop.Message, why), ": ") + ")", Path: g.path()}, false, nil
	}
	stop.Status = Stopped
	if why != "" {
		stop.Message += " (" + why + ")"
	}
	return Verdict{}, false, s.stop(&StopError{Reason: stop})
}
