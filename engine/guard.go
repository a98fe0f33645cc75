package engine

import "fmt"

// Verdict is what the guards of a place say; the zero value is "go on".
type Verdict struct {
	Deny    bool // before_tool: the call is refused
	Replan  bool // the reflector is to make a new plan now
	Message string
}

// Guards tries the guards of a place in the order written; the first that
// fires decides. A guard that ends the run comes back as a *StopError.
func (s *Scope) Guards(at GuardPlace, env func(source string) map[string]any) (Verdict, error) {
	for i := range s.r.program.Guards {
		g := &s.r.program.Guards[i]
		if g.At != at || s.r.closing {
			continue
		}
		fires, err := g.When.Eval(env(g.When.Source))
		if err != nil {
			return Verdict{}, s.stop(&StopError{StopReason{
				Code: StopInternal, Status: Failed, Path: g.path(),
				Message: fmt.Sprintf("guard %s: %v", g.Name, err),
			}})
		}
		if fires {
			return s.fire(g)
		}
	}
	return Verdict{}, nil
}

func (g *Guard) path() string { return fmt.Sprintf("guards[%d]", g.Index) }

func (g *Guard) text() string {
	if g.Message != "" {
		return g.Message
	}
	return "guard " + g.Name + " fired: " + g.When.Source
}

func (s *Scope) fire(g *Guard) (Verdict, error) {
	s.event(Event{Type: GuardFired, Path: s.Path(), Guard: &GuardEvent{
		Name: g.Name, Path: g.path(), At: g.At, Do: g.Do, Message: g.Message,
	}})
	stop := StopReason{Code: StopGuard, Path: g.path(), Message: g.text()}
	switch g.Do {
	case GuardDeny:
		return Verdict{Deny: true, Message: g.text()}, nil
	case GuardReplan:
		return Verdict{Replan: true, Message: g.text()}, nil
	case GuardInterrupt:
		return s.interrupt(g, stop)
	case GuardSucceed:
		stop.Status = Completed
	case GuardFail:
		stop.Status = Failed
	default:
		stop.Status = Stopped
	}
	return Verdict{}, s.stop(&StopError{stop})
}

// interrupt asks a person whether the run may go on.
func (s *Scope) interrupt(g *Guard, stop StopReason) (Verdict, error) {
	d, err := s.Ask("guard."+g.Name, Question{Kind: AskGuard, Question: g.text()})
	if err != nil {
		return Verdict{}, err
	}
	if d.Approved() {
		return Verdict{}, nil
	}
	stop.Status = Stopped
	if d.Reason != "" {
		stop.Message += " (" + d.Reason + ")"
	}
	return Verdict{}, s.stop(&StopError{stop})
}
