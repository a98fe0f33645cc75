package runtime

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/exprenv"
	"github.com/pexctl/pex/engine/interrupt"
	"github.com/pexctl/pex/engine/jsonvalue"
	"github.com/pexctl/pex/engine/plan"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/engine/tool"
)

// Tool implements Scope.
func (s *scope) Tool(name string, u engine.Invocation) (rec tool.Record, wrote bool, err error) {
	if err := s.halted(); err != nil {
		return tool.Record{}, false, err
	}
	c := &toolRun{s: s, name: name, u: u, rec: tool.Record{Tool: u.Tool, Args: u.Args, CallID: u.CallID, Turn: s.Path()}}
	if len(c.rec.Args) == 0 {
		c.rec.Args = json.RawMessage("{}")
	}
	if err := s.countIn(); err != nil {
		return c.rec, false, err
	}
	defer s.r.calling(-1)
	c.flight = &engine.ToolCalled{Step: u.StepID, Record: tool.Record{Tool: u.Tool, Args: c.rec.Args, Status: tool.CallRunning}}
	s.r.inFlight = append(slices.Clip(s.r.inFlight), c.flight)
	defer c.land()
	err = c.run()
	return c.rec, c.wrote, err
}

// toolRun is one call of a tool under way: what is asked before it, what came
// of it.
type toolRun struct {
	s        *scope
	name     string // of the effect, below the scope
	u        engine.Invocation
	tool     *BoundTool // nil = there is none of that name
	rec      tool.Record
	repeated string // idempotency key of an earlier call like this one that may have taken effect
	attempts int    // calls that were made of the tool
	wrote    bool
	urge     error              // a guard's wish for a new plan, before the call
	flight   *engine.ToolCalled // the call in run.inFlight; nil = it has ended
}

func (c *toolRun) run() error {
	admitted, err := c.admitted()
	if err != nil {
		return err
	}
	if !admitted {
		c.called()
		return c.urge
	}
	if err := c.s.Await(always); err != nil {
		return err // cut before it began
	}
	err = c.perform()
	c.called()
	if err != nil || len(c.s.r.program.Guards) == 0 || c.rec.Status == tool.CallDenied {
		return err
	}
	v, err := c.guarded(c.name).Guards(engine.AfterTool, c.env)
	return cmp.Or(err, v.Urge())
}

// late says whether the call is not to be made any more, now that its turn has
// come; the record says why.
func (c *toolRun) late() bool {
	if c.u.Moot == nil {
		return false
	}
	why := c.u.Moot()
	if why != nil {
		c.refuse(why)
	}
	return why != nil
}

// refuse books that a call is not made because a new plan is wanted.
func (c *toolRun) refuse(why error) { c.rec.Fail(tool.CallDenied, "not made: "+why.Error()) }

// admitted says whether the call is to be made; where it is not, the record
// says why.
func (c *toolRun) admitted() (bool, error) {
	if c.late() {
		c.rec.Args = jsonvalue.Valid(c.rec.Args)
		return false, nil
	}
	t, ok := c.s.r.tools[c.u.Tool]
	if !ok || c.u.Refuse != "" {
		c.rec.Args = jsonvalue.Valid(c.rec.Args)
		c.rec.Fail(tool.CallError, cmp.Or(c.u.Refuse, c.s.r.unknownTool(c.u.Tool)))
		return false, nil
	}
	c.tool = t
	if why := c.s.r.refusal(t, c.s.Now()); why != "" {
		c.rec.Args = jsonvalue.Valid(c.rec.Args)
		c.rec.Fail(tool.CallError, why)
		return false, nil
	}
	args, err := c.arguments()
	if err != nil {
		c.rec.Args = jsonvalue.Valid(c.rec.Args)
		c.rec.Fail(tool.CallError, err.Error())
		return false, nil
	}
	c.rec.Args, c.flight.Record.Args = args, args
	if allowed, err := c.allowed(c.name); !allowed || err != nil {
		return false, err
	}
	return c.approved()
}

// guarded is the scope that the guards of a call ask in: calls of one turn ask
// questions of their own.
func (c *toolRun) guarded(name string) *scope {
	if len(c.s.r.program.Guards) == 0 {
		return c.s
	}
	return c.s.child(name)
}

// allowed tries the guards before a tool.
func (c *toolRun) allowed(name string) (bool, error) {
	if len(c.s.r.program.Guards) == 0 {
		return true, nil
	}
	v, err := c.guarded(name).guards(engine.BeforeTool, c.env, &interrupt.Question{Tool: c.rec.Tool, Args: c.rec.Args})
	switch {
	case err != nil:
		return false, err
	case v.Deny:
		c.rec.Fail(tool.CallDenied, "not allowed: "+v.Message)
	case v.Replan:
		c.urge = v.Urge()
		c.refuse(c.urge)
	}
	return !v.Deny && !v.Replan, nil
}

// approved asks a person where the tool wants that. Arguments that the person
// edits have to pass like those of a model: they are tried against the guards,
// and such that do not fit are asked for again.
func (c *toolRun) approved() (bool, error) {
	if !c.asks() {
		return true, nil
	}
	name := c.name + ".approval"
	q := interrupt.Question{
		Kind: interrupt.Approval, Tool: c.rec.Tool, Args: c.rec.Args,
		Question: c.may(),
	}
	may := q.Question
	for n := 2; ; n++ {
		c.s.event(engine.Event{Type: engine.ToolInterrupted, Path: c.name, Tool: q.Tool, Args: q.Args, Repairs: c.rec.Repairs, Step: c.step()})
		d, err := c.s.Ask(name, q)
		if err != nil {
			return false, err
		}
		if !d.Approved() {
			c.rec.Fail(tool.CallDenied, strings.TrimSuffix("a person denied the call: "+cmp.Or(d.Reason, d.Text), ": "))
			return false, nil
		}
		if d.Do != "edit" {
			return true, nil
		}
		args, _, err := c.tool.arguments(c.s, d.Edit)
		if err == nil {
			c.rec.Args, c.rec.Edited, c.rec.Repairs, c.flight.Record.Args = args, true, nil, args
			return c.allowed(c.name + ".edited")
		}
		name = fmt.Sprintf("%s.approval.%d", c.name, n)
		q.Question = fmt.Sprintf("%s The edit cannot be used: %v", may, err)
	}
}

// may is what a person is asked before a call.
func (c *toolRun) may() string {
	if c.u.StepID == "" {
		return fmt.Sprintf("May %s be called?", c.rec.Tool)
	}
	return fmt.Sprintf("May step %s call %s?", c.u.StepID, c.rec.Tool)
}

// mayAsk says whether any call of the tool may need an approval.
func (t *BoundTool) mayAsk() bool {
	return t.Spec != nil && t.Spec.Approval.Source != "" && t.Spec.Approval.Source != "never"
}

// asks says whether a person must approve this call. A condition that fails on
// the values there are holds on the safe side.
func (c *toolRun) asks() bool {
	t := c.tool
	if !t.mayAsk() || t.Spec.Approval.Source == "always" {
		return t.mayAsk()
	}
	ask, err := t.Spec.Approval.Eval(c.env(t.Spec.Approval.Source))
	if err != nil {
		c.s.Record(engine.WarningAdded{Text: fmt.Sprintf("tools.%s.approval cannot be evaluated, so a person is asked: %v", c.rec.Tool, err)})
	}
	return ask || err != nil
}

// env is what the conditions around a tool see.
func (c *toolRun) env(source string) map[string]any {
	env := c.view().StepEnv(source, c.u.Step)
	e := exprenv.Tool{Name: c.rec.Tool, Effect: string(c.tool.effect()), Attempts: max(c.attempts, 1)}
	e.Args = engine.ArgumentsOf(c.rec.Args)
	e.Result = plainResult(c.rec.Result)
	if c.rec.Status != tool.CallOK && c.rec.Status != "" {
		e.Error = c.rec.Text()
	}
	env["tool"] = e
	return env
}

// view is what the run knows, the call itself left out of run.calls.
func (c *toolRun) view() engine.View {
	v := c.s.View()
	if c.flight == nil {
		v.State.Calls = v.State.Calls[:len(v.State.Calls)-1] // called has just recorded it
		return v
	}
	v.InFlight = c.s.r.others(c.flight)
	return v
}

// land takes the call out of those in flight.
func (c *toolRun) land() {
	if c.flight != nil {
		c.s.r.inFlight, c.flight = c.s.r.others(c.flight), nil
	}
}

// others are the calls in flight but one.
func (r *run) others(one *engine.ToolCalled) []*engine.ToolCalled {
	return slices.DeleteFunc(slices.Clone(r.inFlight), func(c *engine.ToolCalled) bool { return c == one })
}

// countIn makes room for one more call under max_tool_calls, of this run and of
// those it is nested in. Where there is none the calls under way may end, and
// then the run that has the limit does.
func (s *scope) countIn() error {
	for r := s.r; r != nil; r = r.parent {
		if !r.callable() {
			if err := s.awaitCallable(r); err != nil {
				return err
			}
		}
	}
	s.r.calling(1)
	return nil
}

func (r *run) callable() bool {
	limit := r.program.Limits.MaxToolCalls
	return limit <= 0 || r.state.Usage.ToolCalls+r.underway+r.delegated < limit
}

func (s *scope) awaitCallable(r *run) error {
	ended := func() bool {
		within := r != s.r // an agent that r called, which cannot wait for its own end
		return r.underway == 0 && (r.delegated == 0 || within)
	}
	err := s.Await(func() bool { return ended() || r.stopping != nil || r.callable() })
	if err != nil {
		return err
	}
	if r.stopping == nil && !(&scope{s.k, r}).Exceeded(func(engine.Limits) bool { return !r.callable() }) {
		return nil
	}
	return r.halt(&stop.Error{Reason: stop.Reason{
		Code: stop.MaxToolCalls, Path: "limits.max_tool_calls", Status: stop.RunStopped,
		Message: fmt.Sprintf("%d tool calls were made", r.state.Usage.ToolCalls+r.delegated),
	}})
}

// write notes that the run, and those around it, may have changed the world.
func (r *run) write() {
	for ; r != nil; r = r.parent {
		r.wrote = true
	}
}

// calling notes calls under way, here and in the runs around this one.
func (r *run) calling(n int) {
	for ; r != nil; r = r.parent {
		r.underway += n
	}
}

// called counts a call that ended and tells of it.
func (c *toolRun) called() {
	c.land()
	c.s.Record(engine.ToolCalled{Step: c.u.StepID, Record: c.rec})
	if c.s.r.emit.on() {
		c.s.event(engine.Event{
			Type: engine.ToolCompleted, Path: c.name, Tool: c.rec.Tool, Args: c.rec.Args, Repairs: c.rec.Repairs, Status: string(c.rec.Status),
			Text: c.rec.Text(), Duration: c.rec.DurationMS, Step: c.step(),
		})
	}
}

// step is the step that makes the call, as events show it.
func (c *toolRun) step() *engine.StepEvent {
	return &engine.StepEvent{ID: c.u.StepID, Goal: c.u.Step.Goal, Status: plan.Running}
}
