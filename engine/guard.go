package engine

import "fmt"

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

// Guards tries the guards of a place in the order written; the first that
// fires decides. A guard that ends the run comes back as a *StopError. One that
// cannot be evaluated on what there is holds on the safe side: it denies the
// call, or ends the run.
func (s *Scope) Guards(at GuardPlace, env func(source string) map[string]any) (Verdict, error) {
	if err := s.halted(); err != nil {
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
		if err != nil {
			return s.blind(g, err)
		}
		if !fires {
			continue
		}
		if v, on, err := s.fire(g); !on || err != nil {
			return v, err
		}
	}
	return Verdict{}, nil
}

// blind is what a guard does whose condition fails on the values there are.
func (s *Scope) blind(g *Guard, err error) (Verdict, error) {
	text := fmt.Sprintf("guard %s cannot be evaluated: %v", g.Name, err)
	s.Record(Warned{Text: text})
	if g.At == BeforeTool {
		return Verdict{Deny: true, Message: text, Path: g.path()}, nil
	}
	return Verdict{}, s.stop(&StopError{StopReason{Code: StopGuard, Status: Stopped, Path: g.path() + ".when", Message: text}})
}

func (g *Guard) path() string { return fmt.Sprintf("guards[%d]", g.Index) }

func (g *Guard) text() string {
	if g.Message != "" {
		return g.Message
	}
	return "guard " + g.Name + " fired: " + g.When.Source
}

// fire does what the guard says; on = the guards behind it are tried too.
func (s *Scope) fire(g *Guard) (v Verdict, on bool, err error) {
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
		on, err := s.interrupt(g, stop)
		return Verdict{}, on, err
	case GuardSucceed:
		stop.Status = Completed
	case GuardFail:
		stop.Status = Failed
	default:
		stop.Status = Stopped
	}
	return Verdict{}, false, s.stop(&StopError{stop})
}

// interrupt asks a person whether the run may go on.
func (s *Scope) interrupt(g *Guard, stop StopReason) (on bool, err error) {
	d, err := s.Ask("guard."+g.Name, Question{Kind: AskGuard, Question: g.text()})
	if err != nil || d.Approved() {
		return err == nil, err
	}
	stop.Status = Stopped
	if why := d.Reason + d.Text; why != "" {
		stop.Message += " (" + why + ")"
	}
	return false, s.stop(&StopError{stop})
}
