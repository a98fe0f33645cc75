package enginetest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/exprenv"
	"github.com/pexctl/pex/engine/interrupt"
	"github.com/pexctl/pex/engine/jsonvalue"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/engine/tool"
)

// Model implements engine.Scope.
func (s *Scope) Model(name string, c model.Call) (*model.Reply, error) {
	spec := s.r.program.Model(c.LLM)
	if spec == nil {
		return nil, stop.Fail(stop.Internal, "llms", "llm %q is not in the program", c.LLM)
	}
	role := c.Role
	if c.PerStep {
		role += " " + c.StepID
	}
	s.r.calls[role]++
	nth := s.r.calls[role]
	reply, err := s.ask(name, nth, spec, c)
	for i, other := range spec.Fallback {
		me, failed := errors.AsType[*model.Error](err)
		if !failed || !me.AllowsFallback() {
			break
		}
		s.Record(engine.WarningAdded{Text: fmt.Sprintf("llm %s failed, so %s is used instead: %s", c.LLM, other, me), Repair: engine.FellBack})
		reply, err = s.ask(fmt.Sprintf("%s.fallback.%d", name, i+1), nth, s.r.program.Model(other), c)
	}
	return reply, err
}

// ask makes one call of an LLM.
func (s *Scope) ask(name string, nth int, spec *engine.ModelSpec, c model.Call) (*model.Reply, error) {
	req := &model.Request{
		Role: c.Role, Call: nth, Step: c.Step, Messages: c.Messages, Tools: c.Tools,
		ParallelTools: c.Parallel, Schema: c.Schema, Params: spec.Params,
	}
	llm := s.r.host.Models[spec.Name]
	if m, ok := llm.(model.Sequenced); ok {
		llm = m.Choose(req)
	}
	var delay time.Duration
	if m, ok := llm.(model.Delayed); ok {
		delay = m.Delay()
	}
	if err := s.effect(name, delay); err != nil {
		return nil, err
	}
	if llm == nil {
		return nil, &model.Error{Kind: model.NotFound, Message: "llm " + spec.Name + " is not connected"}
	}
	reply, err := llm.Generate(s.r.ctx, req, nil)
	if err != nil {
		if model.AsError(err) == nil {
			err = &model.Error{Kind: model.NetworkError, Message: err.Error(), Err: err}
		}
		return nil, err
	}
	s.Record(engine.ModelCalled{Model: spec.Name, Tokens: reply.Usage, Cost: spec.Cost.Of(reply.Usage)})
	return reply, nil
}

// Ask implements engine.Scope. It returns an error for an unanswered question, since the
// fake cannot be resumed.
func (s *Scope) Ask(name string, q interrupt.Question) (d interrupt.Decision, err error) {
	if err := s.effect(name, 0); err != nil {
		return d, err
	}
	q.Path = joinPath(s.path, name)
	if s.r.host.Responder == nil {
		return d, fmt.Errorf("question %s: no answer", q.Path)
	}
	answer, err := s.r.host.Responder.Ask(s.r.ctx, q)
	if err == nil {
		err = json.Unmarshal(answer, &d)
	}
	return d, err
}

// Fits implements engine.Scope.
func (s *Scope) Fits(name string, args json.RawMessage) error {
	b := s.binding(name)
	if b == nil {
		return fmt.Errorf("unknown tool %q", name)
	}
	_, err := fit(b, args)
	return err
}

func (s *Scope) binding(name string) *tool.Binding {
	for i := range s.r.host.Tools {
		if b := &s.r.host.Tools[i]; b.Info().Name == name {
			return b
		}
	}
	return nil
}

func fit(b *tool.Binding, args json.RawMessage) (json.RawMessage, error) {
	if !bytes.HasPrefix(bytes.TrimSpace(args), []byte("{")) || !json.Valid(args) {
		return nil, fmt.Errorf("the arguments of %s are not a JSON object: %s", b.Info().Name, args)
	}
	if b.Fit == nil {
		return args, nil
	}
	args, _, err := b.Fit(args)
	return args, err
}

// Tool implements engine.Scope.
func (s *Scope) Tool(name string, u engine.Invocation) (rec tool.Record, wrote bool, err error) {
	if err := s.haltError(); err != nil {
		return rec, false, err
	}
	c := &fakeCall{s: s, name: name, u: u}
	c.rec = tool.Record{Tool: u.Tool, Args: u.Args, CallID: u.CallID, Turn: s.path}
	if len(u.Args) == 0 {
		c.rec.Args = json.RawMessage("{}")
	}
	limit := s.r.program.Limits.MaxToolCalls
	if n := s.r.state.Usage.ToolCalls; limit > 0 && n+len(s.r.running) >= limit {
		return c.rec, false, s.stop(stop.Reason{
			Code: stop.MaxToolCalls, Path: "limits.max_tool_calls", Status: stop.RunStopped, Message: fmt.Sprintf("%d tool calls were made", n),
		})
	}
	c.flight = &engine.ToolCalled{Step: u.StepID, Record: tool.Record{Tool: u.Tool, Args: c.rec.Args, Status: tool.CallRunning}}
	s.r.running = append(slices.Clone(s.r.running), c.flight)
	defer c.removeInFlight()
	err = c.run()
	return c.rec, c.wrote, err
}

// fakeCall is a tool call in flight.
type fakeCall struct {
	s      *Scope
	name   string
	u      engine.Invocation
	bound  *tool.Binding
	rec    tool.Record
	wrote  bool
	flight *engine.ToolCalled
}

// removeInFlight removes the call from those in flight.
func (c *fakeCall) removeInFlight() {
	c.s.r.running = slices.DeleteFunc(slices.Clone(c.s.r.running), func(o *engine.ToolCalled) bool { return o == c.flight })
}

func (c *fakeCall) run() error {
	urge, err := c.admit()
	if err != nil {
		return err
	}
	if c.rec.Status == "" {
		if err := c.perform(); err != nil {
			c.rec.Fail(tool.CallError, "cut: "+err.Error())
			return err
		}
	}
	c.removeInFlight()
	c.s.Record(engine.ToolCalled{Step: c.u.StepID, Record: c.rec})
	if urge != nil || c.rec.Status == tool.CallDenied || c.bound == nil || c.s.r.program.Guards == nil {
		return urge
	}
	v, err := c.s.child(c.name).Guards(engine.AfterTool, c.env)
	return cmp.Or(err, v.ReplanRequest())
}

// admit records why a call is not made, if it is not. urge is a guard's request for a new
// plan.
func (c *fakeCall) admit() (urge, err error) {
	if c.obsolete() {
		return nil, nil
	}
	if c.bound = c.s.binding(c.u.Tool); c.bound == nil || c.u.Refuse != "" {
		c.rec.Fail(tool.CallError, cmp.Or(c.u.Refuse, fmt.Sprintf("unknown tool %q", c.u.Tool)))
		c.rec.Args, c.bound = jsonvalue.Valid(c.rec.Args), nil
		return nil, nil
	}
	args, unfit := fit(c.bound, c.rec.Args)
	if unfit != nil {
		c.rec.Fail(tool.CallError, unfit.Error())
		c.rec.Args, c.bound = jsonvalue.Valid(c.rec.Args), nil
		return nil, nil
	}
	c.rec.Args, c.flight.Record.Args = args, args
	v, err := c.s.child(c.name).guards(engine.BeforeTool, c.env, &interrupt.Question{Tool: c.rec.Tool, Args: args})
	switch {
	case err != nil:
		return nil, err
	case v.Deny:
		c.rec.Fail(tool.CallDenied, "not allowed: "+v.Message)
	case v.Replan:
		c.rec.Fail(tool.CallDenied, "not made: "+v.Message)
	default:
		err = c.approve()
	}
	return v.ReplanRequest(), err
}

// obsolete reports whether the caller no longer wants the call.
func (c *fakeCall) obsolete() bool {
	if c.u.Obsolete == nil {
		return false
	}
	why := c.u.Obsolete()
	if why != nil {
		c.rec.Fail(tool.CallDenied, "not made: "+why.Error())
	}
	return why != nil
}

// approve asks a human for approval if the tool's spec requires it.
func (c *fakeCall) approve() error {
	if c.bound.Spec == nil || c.bound.Spec.Approval.IsZero() || c.bound.Spec.Approval.Source == "never" {
		return nil
	}
	if when := c.bound.Spec.Approval; when.Source != "always" {
		if ask, err := when.Eval(c.env(when.Source)); err == nil && !ask {
			return nil
		}
	}
	d, err := c.s.Ask(c.name+".approval", interrupt.Question{Kind: interrupt.Approval, Tool: c.rec.Tool, Args: c.rec.Args})
	switch {
	case err != nil:
		return err
	case !d.Approved():
		c.rec.Fail(tool.CallDenied, "a human denied the call: "+cmp.Or(d.Reason, d.Text))
	case d.Do == "edit":
		c.rec.Args, c.rec.Edited = d.Edit, true
	}
	return nil
}

// perform calls the tool. An error means that the call was interrupted.
func (c *fakeCall) perform() error {
	if err := c.s.effect(c.name, 0); err != nil {
		return err
	}
	if c.obsolete() {
		return nil
	}
	c.wrote = c.bound.Effect() == tool.WriteEffect
	path := joinPath(c.s.path, c.name)
	out, err := c.bound.Tool.Call(c.s.r.ctx, &tool.Call{
		Args: c.rec.Args, RunID: c.s.r.input.RunID, Path: path, Key: c.s.r.input.RunID + "/" + path, Context: c.u.Context, Progress: func(string) {},
	})
	if err != nil {
		c.rec.Fail(tool.CallError, err.Error())
		return nil
	}
	c.rec.Status, c.rec.Result, c.rec.ModelText = tool.CallOK, out.Value(), out.String()
	return nil
}

// env returns the variables of the conditions around a tool call.
func (c *fakeCall) env(source string) map[string]any {
	v := c.s.View()
	v.InFlight = nil
	env := v.StepEnv(source, c.u.Step)
	e := exprenv.Tool{Name: c.rec.Tool, Effect: string(c.bound.Effect()), Args: engine.ArgumentsOf(c.rec.Args), Attempts: 1, Result: c.rec.Result}
	if data, ok := c.rec.Result.(json.RawMessage); ok {
		e.Result = jsonvalue.Plain(data)
	}
	if c.rec.Status != tool.CallOK && c.rec.Status != "" {
		e.Error = c.rec.Text()
	}
	env["tool"] = e
	return env
}

// Guards implements engine.Scope.
func (s *Scope) Guards(at engine.GuardPlace, env func(source string) map[string]any) (engine.Verdict, error) {
	return s.guards(at, env, nil)
}

// guards is Guards for a tool call; call is nil elsewhere.
func (s *Scope) guards(at engine.GuardPlace, env func(source string) map[string]any, call *interrupt.Question) (engine.Verdict, error) {
	if err := s.haltError(); err != nil {
		return engine.Verdict{}, err
	}
	for i := range s.r.program.Guards {
		g := &s.r.program.Guards[i]
		if g.At != at {
			continue
		}
		variables := env
		if variables == nil {
			v := s.View()
			variables = v.Env
		}
		fires, err := g.When.Eval(variables(g.When.Source))
		if err == nil && !fires {
			continue
		}
		v, goOn, err := s.fire(g, call, err)
		if !goOn || err != nil {
			return v, err
		}
	}
	return engine.Verdict{}, nil
}

// fire applies the action of a guard. A guard that cannot be evaluated never lets a call
// through and never ends a run successfully.
func (s *Scope) fire(g *engine.Guard, call *interrupt.Question, why error) (v engine.Verdict, goOn bool, err error) {
	do, end := g.Do, stop.Reason{Code: stop.Guard, Path: g.Path(), Message: g.Text(), Status: stop.RunStopped}
	if why != nil {
		end.Path, end.Message = g.Path()+".when", fmt.Sprintf("guard %s cannot be evaluated: %v", g.Name, why)
		s.Record(engine.WarningAdded{Text: end.Message})
		switch {
		case do == engine.GuardReplan && g.At == engine.BeforeTool:
			do = engine.GuardDeny
		case do == engine.GuardReplan, do == engine.GuardSucceed:
			do = engine.GuardStop
		}
	}
	v = engine.Verdict{Message: end.Message, Path: g.Path()}
	switch do {
	case engine.GuardDeny:
		v.Deny = true
		return v, false, nil
	case engine.GuardReplan:
		v.Replan = true
		return v, false, nil
	case engine.GuardInterrupt:
		q := interrupt.Question{Kind: interrupt.Guard, Question: end.Message}
		if call != nil {
			q.Tool, q.Args = call.Tool, call.Args
		}
		d, err := s.Ask("guard."+g.Name, q)
		if err != nil || d.Approved() {
			return engine.Verdict{}, err == nil, err
		}
		if v.Deny = call != nil; v.Deny {
			return v, false, nil
		}
	case engine.GuardSucceed:
		end.Status = stop.RunCompleted
	case engine.GuardFail:
		end.Status = stop.RunFailed
	case engine.GuardStop:
		// the status is stopped already
	}
	return engine.Verdict{}, false, s.stop(end)
}
