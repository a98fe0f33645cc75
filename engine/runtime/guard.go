package runtime

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/exprenv"
	"github.com/pexctl/pex/engine/interrupt"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/jsonvalue"
	"github.com/pexctl/pex/engine/kernel"
	"github.com/pexctl/pex/engine/runtime/permission"
	"github.com/pexctl/pex/engine/runtime/replay"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/engine/tool"
)

// Guards implements Scope.
func (s *scope) Guards(at engine.GuardPlace, env func(source string) map[string]any) (engine.Verdict, error) {
	return s.guards(at, env, nil)
}

// guards is Guards for a tool call: call holds its tool and arguments, or is nil.
func (s *scope) guards(at engine.GuardPlace, env func(source string) map[string]any, call *interrupt.Question) (engine.Verdict, error) {
	if err := s.boundary("guards", string(at)); err != nil {
		return engine.Verdict{}, err
	}
	for i := range s.r.program.Guards {
		g := &s.r.program.Guards[i]
		if g.At != at || s.r.finalizing {
			continue
		}
		fires, err := g.When.Eval(s.guardEnv(env, g.When.Source))
		if s.r.traced() {
			s.r.trace(GuardEvaluated{g.Index, fires && err == nil})
		}
		if err == nil && !fires {
			continue
		}
		decide := s.fire
		if err != nil {
			decide = func(g *engine.Guard, call *interrupt.Question) (engine.Verdict, bool, error) {
				return s.failClosed(g, call, err)
			}
		}
		if v, on, err := decide(g, call); !on || err != nil {
			return v, err
		}
	}
	return engine.Verdict{}, nil
}

// guardEnv returns the variables of an expression: those of env, or of the run.
func (s *scope) guardEnv(env func(source string) map[string]any, source string) map[string]any {
	if env == nil {
		v := s.View()
		return v.Env(source)
	}
	return env(source)
}

// failClosed applies a guard whose condition cannot be evaluated. It never lets the call
// through and never ends the run successfully: deny denies, interrupt asks, fail fails,
// replan denies a call that was not made yet, and any other action stops the run.
func (s *scope) failClosed(g *engine.Guard, call *interrupt.Question, why error) (v engine.Verdict, on bool, err error) {
	text := fmt.Sprintf("guard %s cannot be evaluated: %v", g.Name, why)
	s.Record(engine.WarningAdded{Text: text})
	end := stop.Reason{Code: stop.Guard, Status: stop.RunStopped, Path: g.Path() + ".when", Message: text}
	switch {
	case g.Do == engine.GuardInterrupt:
		return s.interrupt(g, call, end)
	case g.Do == engine.GuardDeny, g.Do == engine.GuardReplan && g.At == engine.BeforeTool:
		return engine.Verdict{Deny: true, Message: text, Path: g.Path()}, false, nil
	case g.Do == engine.GuardFail:
		end.Status = stop.RunFailed
	}
	return engine.Verdict{}, false, s.stop(&stop.Error{Reason: end})
}

// fire applies the action of a guard. on reports whether to evaluate the guards after it.
func (s *scope) fire(g *engine.Guard, call *interrupt.Question) (v engine.Verdict, on bool, err error) {
	s.event(engine.Event{Type: engine.GuardFired, Guard: &engine.GuardEvent{
		Name: g.Name, Path: g.Path(), At: g.At, Do: g.Do, Message: g.Message,
	}})
	end := stop.Reason{Code: stop.Guard, Path: g.Path(), Message: g.Text()}
	switch g.Do {
	case engine.GuardDeny:
		return engine.Verdict{Deny: true, Message: g.Text(), Path: g.Path()}, false, nil
	case engine.GuardReplan:
		return engine.Verdict{Replan: true, Message: g.Text(), Path: g.Path()}, false, nil
	case engine.GuardInterrupt:
		return s.interrupt(g, call, end)
	case engine.GuardSucceed:
		end.Status = stop.RunCompleted
	case engine.GuardFail:
		end.Status = stop.RunFailed
	default:
		end.Status = stop.RunStopped
	}
	return engine.Verdict{}, false, s.stop(&stop.Error{Reason: end})
}

// interrupt asks a human whether the run may continue. Before a tool call the question
// shows the call and a denial denies only that call; elsewhere a denial ends the run. The
// rule of the guard is added to call.
func (s *scope) interrupt(g *engine.Guard, call *interrupt.Question, end stop.Reason) (v engine.Verdict, on bool, err error) {
	plain := interrupt.Question{Kind: interrupt.Guard, Question: end.Message} // the question that version 0.1.0 asked before a tool call
	q, old := plain, (*interrupt.Question)(nil)
	if call != nil {
		q.Tool, q.Args, old = call.Tool, call.Args, &plain
	}
	var about *exprenv.Tool
	if call != nil {
		about = &exprenv.Tool{Name: call.Tool, Args: engine.ArgumentsOf(call.Args), Attempts: 1}
		if t := s.r.tools[call.Tool]; t != nil {
			about.Effect = string(t.effect())
		}
	}
	d, asOld, err := s.askCompatible("guard."+g.Name, q.Restrict(g.Rule), old, about)
	if call != nil {
		*call = call.Restrict(call.CompiledRule().Or(g.Rule))
	}
	if err != nil || d.Approved() {
		return engine.Verdict{}, err == nil, err
	}
	why := d.Reason + d.Text
	if call != nil && !asOld {
		return engine.Verdict{Deny: true, Message: strings.TrimSuffix(fmt.Sprintf("%s (a person denied it: %s", end.Message, why), ": ") + ")", Path: g.Path()}, false, nil
	}
	end.Status = stop.RunStopped
	if why != "" {
		end.Message += " (" + why + ")"
	}
	return engine.Verdict{}, false, s.stop(&stop.Error{Reason: end})
}

// encodeResolutions returns decisions about unknown outcomes as the journal stores
// results: the value after "done:" becomes a tool output.
func encodeResolutions(decisions map[string]string) map[string]string {
	out := make(map[string]string, len(decisions))
	for path, how := range decisions {
		if given, ok := strings.CutPrefix(how, "done:"); ok && json.Valid([]byte(given)) {
			how = "done:" + string(jsonvalue.Encode(userOutput(json.RawMessage(given))))
		}
		out[path] = how
	}
	return out
}

// userOutput returns the output that a human supplied for a tool; a JSON string becomes
// its text.
func userOutput(given json.RawMessage) tool.Output {
	if text, ok := jsonvalue.Decode(given).(string); ok {
		return tool.Output{Text: text}
	}
	return tool.Output{Data: given}
}

// Ask implements Scope.
func (s *scope) Ask(name string, q interrupt.Question) (interrupt.Decision, error) {
	return s.askAbout(name, q, nil)
}

// askAbout is Ask for a question about a tool call, if call is not nil.
func (s *scope) askAbout(name string, q interrupt.Question, call *exprenv.Tool) (interrupt.Decision, error) {
	d, _, err := s.askCompatible(name, q, nil, call)
	return d, err
}

// askCompatible is askAbout for a question that earlier versions worded differently: old,
// if not nil. asOld reports that the journal holds the old wording.
func (s *scope) askCompatible(name string, q interrupt.Question, old *interrupt.Question, call *exprenv.Tool) (d interrupt.Decision, asOld bool, err error) {
	if err := s.halted(); err != nil {
		return interrupt.Decision{}, false, err
	}
	q.Path = joinPath(s.Path(), name)
	if q.Rule != nil {
		s.r.restrict(q.Path, *q.Rule, q.Kind, call)
		q.Rule = nil
	}
	body, err := q.Journaled()
	if err != nil {
		return interrupt.Decision{}, false, err
	}
	s.event(engine.Event{Type: engine.InterruptRaised, Path: name, Tool: q.Tool, Args: q.Args, Interrupt: &q})
	k := kernel.Question{Name: name, Digest: digest(body), Request: func() []byte { return body }}
	if old != nil {
		was := *old
		was.Path = q.Path
		before, err := was.Journaled()
		if err != nil {
			return interrupt.Decision{}, false, err
		}
		k.OnReplay = func(request []byte) {
			asOld = bytes.Equal(jsonvalue.Encode(jsonvalue.Decode(request)), jsonvalue.Encode(jsonvalue.Decode(before)))
		}
		k.AcceptDrift = func() bool { return asOld }
	}
	d, err = kernel.Ask[interrupt.Decision](s.k, k)
	return d, asOld, err
}

// restrict sets the rule of the question or write at a path. call is the call that it is
// about, or nil.
func (r *run) restrict(path string, rule interrupt.Rule, kind interrupt.Kind, call *exprenv.Tool) {
	r.root().permissions.Restrict(path, permission.About{Rule: rule, Kind: kind, Parameters: r.state.Parameters, Call: call})
}

// permitDecision implements kernel.Options.Permit.
func (r *run) permitDecision(d kernel.Proposal) (json.RawMessage, error) {
	by := r.opts.By
	if d.By != nil {
		by = decodeLenient[engine.Actor](d.By)
	}
	do := d.Resolve // done:JSON, redo or skip
	if d.Answer != nil {
		do = cmp.Or(decodeLenient[interrupt.Decision](d.Answer).Do, decodeLenient[inlineAnswer](d.Answer).Decision.Do)
	}
	if err := r.permissions.Permit(d.Path, by, do); err != nil {
		r.refusals = append(r.refusals, err)
		return nil, err
	}
	return journaledActor(r.permissions.Journaled(d.Path, by)), nil
}

// recordedDecisions are a recording whose decisions count only with what they permitted: a
// fork asks again before it makes a restricted call that was approved in the other run.
type recordedDecisions struct {
	*replay.Recording
	run *run
}

// Find implements kernel.Recorded.
func (d recordedDecisions) Find(q kernel.EffectQuery) (kernel.RecordedOutcome, error) {
	if q.Class == journal.Question && d.run.permissions.Restricted(q.Path) && d.AsksAgain(q.Path) {
		return kernel.RecordedOutcome{}, nil
	}
	return d.Recording.Find(q)
}
