package runtime

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/exprenv"
	"github.com/pexctl/pex/engine/interrupt"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/jsonvalue"
	"github.com/pexctl/pex/engine/kernel"
	"github.com/pexctl/pex/engine/plan"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/engine/tool"
)

// Tool implements Scope.
func (s *scope) Tool(name string, u engine.Invocation) (rec tool.Record, wrote bool, err error) {
	if err := s.halted(); err != nil {
		return tool.Record{}, false, err
	}
	c := &toolRun{s: s, name: name, inv: u, rec: tool.Record{Tool: u.Tool, Args: u.Args, CallID: u.CallID, Turn: s.Path()}}
	if len(c.rec.Args) == 0 {
		c.rec.Args = json.RawMessage("{}")
	}
	if err := s.startCall(); err != nil {
		return c.rec, false, err
	}
	defer s.r.countCalls(-1)
	c.running = engine.ToolCalled{Step: u.StepID, Record: tool.Record{Tool: u.Tool, Args: c.rec.Args, Status: tool.CallRunning}}
	c.inFlight = &c.running
	s.r.inFlight = append(slices.Clip(s.r.inFlight), c.inFlight)
	defer c.removeInFlight()
	err = c.run()
	return c.rec, c.hasWritten, err
}

// toolRun is one tool call in progress, with the decisions before it and its outcome.
type toolRun struct {
	s          *scope
	name       string // of the effect, relative to the scope
	inv        engine.Invocation
	tool       *BoundTool // nil = no such tool
	rec        tool.Record
	reusedKey  string         // idempotency key of an identical earlier call that may have taken effect
	guarded    interrupt.Rule // of the guards that asked about the call
	attempts   int            // calls made of the tool
	hasWritten bool
	replan     error              // a guard's request for a new plan, before the call
	running    engine.ToolCalled  // the call while it is in run.inFlight
	inFlight   *engine.ToolCalled // &running; nil = finished
	remote     *remoteCall        // nil = it is not a RemoteCaller, or no one observes it
	embedded   *engine.Embedded   // what it embedded
	dimensions atomic.Int32       // of that
}

func (c *toolRun) run() error {
	admitted, err := c.admit()
	if err != nil {
		return err
	}
	if !admitted {
		c.recordCall()
		return c.replan
	}
	if err := c.s.Await(always); err != nil {
		return err // interrupted before it started
	}
	err = c.perform()
	c.recordCall()
	if err != nil || len(c.s.r.program.Guards) == 0 || c.rec.Status == tool.CallDenied {
		return err
	}
	v, err := c.guardScope(c.name).Guards(engine.AfterTool, c.env)
	return cmp.Or(err, v.ReplanRequest())
}

// obsolete reports whether the call is no longer wanted by the time it could start. The
// record has the reason.
func (c *toolRun) obsolete() bool {
	if c.inv.Obsolete == nil {
		return false
	}
	why := c.inv.Obsolete()
	if why != nil {
		c.recordRefusal(why)
	}
	return why != nil
}

// recordRefusal records that the call is not made because a new plan is requested.
func (c *toolRun) recordRefusal(why error) { c.rec.Fail(tool.CallDenied, "not made: "+why.Error()) }

// admit reports whether to make the call. If not, the record has the reason.
func (c *toolRun) admit() (bool, error) {
	if c.obsolete() {
		c.rec.Args = jsonvalue.Valid(c.rec.Args)
		return false, nil
	}
	t, ok := c.s.r.tools[c.inv.Tool]
	if !ok || c.inv.Refuse != "" {
		return c.reject(cmp.Or(c.inv.Refuse, c.s.r.unknownTool(c.inv.Tool)))
	}
	c.tool = t
	if why := c.s.r.refusal(t, c.s.Now()); why != "" {
		return c.reject(why)
	}
	args, err := c.arguments()
	if err != nil {
		return c.reject(err.Error())
	}
	c.rec.Args, c.inFlight.Record.Args = args, args
	if allowed, err := c.passesGuards(c.name); !allowed || err != nil {
		return false, err
	}
	return c.requestApproval()
}

// reject records that the call cannot be made.
func (c *toolRun) reject(why string) (bool, error) {
	c.rec.Args = jsonvalue.Valid(c.rec.Args)
	c.rec.Fail(tool.CallError, why)
	return false, nil
}

// guardScope returns the scope for the questions of a call's guards. Each call has its
// own, since the calls of a turn may all ask.
func (c *toolRun) guardScope(name string) *scope {
	if len(c.s.r.program.Guards) == 0 {
		return c.s
	}
	return c.s.child(name)
}

// passesGuards evaluates the guards before the call.
func (c *toolRun) passesGuards(name string) (bool, error) {
	if len(c.s.r.program.Guards) == 0 {
		return true, nil
	}
	q := interrupt.Question{Tool: c.rec.Tool, Args: c.rec.Args}
	v, err := c.guardScope(name).guards(engine.BeforeTool, c.env, &q)
	c.guarded = c.guarded.Or(q.CompiledRule())
	switch {
	case err != nil:
		return false, err
	case v.Deny:
		c.rec.Fail(tool.CallDenied, "not allowed: "+v.Message)
	case v.Replan:
		c.replan = v.ReplanRequest()
		c.recordRefusal(c.replan)
	}
	return !v.Deny && !v.Replan, nil
}

// requestApproval asks a human for approval if the tool needs it. Edited arguments are
// checked like a model's: they must fit the schema, or the human is asked again, and pass
// the guards.
func (c *toolRun) requestApproval() (bool, error) {
	if !c.needsApproval() {
		return true, nil
	}
	name := c.name + ".approval"
	q := interrupt.Question{
		Kind: interrupt.Approval, Tool: c.rec.Tool, Args: c.rec.Args,
		Question: c.approvalQuestion(),
	}
	may, edited := q.Question, false
	for n := 2; ; n++ {
		c.s.event(engine.Event{Type: engine.ToolInterrupted, Path: c.name, Tool: q.Tool, Args: q.Args, Repairs: c.rec.Repairs, Step: c.step()})
		d, err := c.s.askAbout(name, q.Restrict(c.tool.rule()), c.asked())
		if err != nil {
			return false, err
		}
		if !d.Approved() {
			c.rec.Fail(tool.CallDenied, strings.TrimSuffix("a reviewer denied the call: "+cmp.Or(d.Reason, d.Text), ": "))
			return false, nil
		}
		if d.Do != "edit" {
			if edited {
				return c.passesGuards(c.name + ".edited")
			}
			return true, nil
		}
		args, _, err := c.tool.arguments(c.s, d.Edit)
		name = fmt.Sprintf("%s.approval.%d", c.name, n)
		if err != nil {
			q.Question = fmt.Sprintf("%s The edit cannot be used: %v", may, err)
			continue
		}
		c.rec.Args, c.rec.Edited, c.rec.Repairs, c.inFlight.Record.Args = args, true, nil, args
		if !c.tool.rule().AsksAboutEdits() {
			return c.passesGuards(c.name + ".edited")
		}
		q.Args, q.Question, edited = args, may+" A reviewer edited the arguments.", true
	}
}

// env returns the variables of guard and approval expressions around a tool call.
func (c *toolRun) env(source string) map[string]any {
	v := c.view()
	env := v.StepEnv(source, c.inv.Step)
	e := exprenv.Tool{Name: c.rec.Tool, Effect: string(c.tool.effect()), Attempts: max(c.attempts, 1)}
	e.Args = engine.ArgumentsOf(c.rec.Args)
	e.Result = plainResult(c.rec.Result)
	if c.rec.Status != tool.CallOK && c.rec.Status != "" {
		e.Error = c.rec.Text()
	}
	env["tool"] = e
	return env
}

// view returns the View of the run with this call excluded from run.calls.
func (c *toolRun) view() engine.View {
	v := c.s.View()
	if c.inFlight == nil {
		v.State.Calls = v.State.Calls[:len(v.State.Calls)-1] // recordCall has just recorded it
		return v
	}
	v.InFlight = c.s.r.otherCalls(c.inFlight)
	return v
}

// removeInFlight removes the call from those in flight.
func (c *toolRun) removeInFlight() {
	if c.inFlight != nil {
		c.s.r.inFlight, c.inFlight = c.s.r.otherCalls(c.inFlight), nil
	}
}

// otherCalls returns the calls in flight except one.
func (r *run) otherCalls(one *engine.ToolCalled) []*engine.ToolCalled {
	i := slices.Index(r.inFlight, one)
	if i < 0 {
		return r.inFlight
	}
	return slices.Concat(r.inFlight[:i], r.inFlight[i+1:])
}

// startCall counts a call against max_tool_calls of the run and its parents. If a limit
// is used up it waits for the calls in flight; if none remains, the run with that limit
// stops.
func (s *scope) startCall() error {
	for r := s.r; r != nil; r = r.parent {
		if !r.mayCall() {
			if err := s.awaitCallSlot(r); err != nil {
				return err
			}
		}
	}
	s.r.countCalls(1)
	return nil
}

func (r *run) mayCall() bool {
	limit := r.program.Limits.MaxToolCalls
	return limit <= 0 || r.state.Usage.ToolCalls+r.callsInFlight+r.delegatedCalls < limit
}

func (s *scope) awaitCallSlot(r *run) error {
	ended := func() bool {
		within := r != s.r // r called this run as an agent, whose end it cannot wait for
		return r.callsInFlight == 0 && (r.delegatedCalls == 0 || within)
	}
	err := s.Await(func() bool { return ended() || r.stopping != nil || r.mayCall() })
	if err != nil {
		return err
	}
	if r.stopping == nil && !(&scope{s.k, r}).Exceeded(func(engine.Limits) bool { return !r.mayCall() }) {
		return nil
	}
	return r.halt(&stop.Error{Reason: stop.Reason{
		Code: stop.MaxToolCalls, Path: "limits.max_tool_calls", Status: stop.RunStopped,
		Message: fmt.Sprintf("%d tool calls were made", r.state.Usage.ToolCalls+r.delegatedCalls),
	}})
}

// markWrote records that the run and its parents may have written.
func (r *run) markWrote() {
	for ; r != nil; r = r.parent {
		r.hasWritten = true
	}
}

// countCalls adds n to the calls in flight of the run and its parents.
func (r *run) countCalls(n int) {
	for ; r != nil; r = r.parent {
		r.callsInFlight += n
	}
}

// recordCall records a finished call and emits its event.
func (c *toolRun) recordCall() {
	c.removeInFlight()
	c.s.Record(engine.ToolCalled{Step: c.inv.StepID, Record: c.rec})
	if c.s.r.emit.enabled() {
		ev := c.event(engine.ToolCompleted)
		ev.Status, ev.Text, ev.Duration = string(c.rec.Status), c.rec.Text(), c.rec.DurationMS
		ev.Remote, ev.Embedded, ev.Dimensions = c.remote.requests(), c.embedded, int(c.dimensions.Load())
		c.s.event(ev)
	}
}

// event returns an event of the call, with what all of its events have.
func (c *toolRun) event(t engine.EventType) engine.Event {
	ev := engine.Event{Type: t, Path: c.name, Tool: c.rec.Tool, CallID: c.rec.CallID, Args: c.rec.Args, Repairs: c.rec.Repairs, Step: c.step()}
	if c.tool != nil {
		ev.Effect, ev.Server = c.tool.effect(), c.tool.server
	}
	return ev
}

// step returns the step that makes the call, for events.
func (c *toolRun) step() *engine.StepEvent {
	e := &engine.StepEvent{ID: c.inv.StepID, Status: plan.Running}
	if c.inv.Step != nil {
		e.Goal = c.inv.Step.Goal
	}
	return e
}

// unknownOutcome returns the failure of a call that may have taken effect: f is the
// tool's failure, key the call's idempotency key. Calls other than writes fail as usual,
// and idempotent ones note the key.
func (t *BoundTool) unknownOutcome(f *journal.Failure, took attemptStats, key string) error {
	if t.effect() == tool.ReadEffect {
		return withStats(took, f)
	}
	took.Key = key
	if t.effect() != tool.WriteEffect {
		return withStats(took, f)
	}
	why := *failureWithStats(took, f)
	if t.Spec == nil || t.Spec.OnUnknown != tool.ContinueUnknown {
		return &kernel.UnknownOutcome{Why: &why}
	}
	why.Code = tool.CodeUnknownOutcome
	why.Message = fmt.Sprintf("The outcome of this call is unknown; it may have taken effect: %s\n"+
		"Do not repeat the call. Check in another way whether it took effect, or report that this is uncertain.", f.Message)
	return &why
}

// uncertainKeys maps calls that may have taken effect to their idempotency keys. A
// repeated call reuses the key, so that a server that knows it does not act twice. It
// belongs to the outermost run.
type uncertainKeys map[string]string

// identity returns the key of a call in uncertainKeys: program, tool and normalized
// arguments.
func (c *toolRun) identity() string {
	return c.s.r.program.Digest + "\x00" + c.rec.Tool + "\x00" + string(jsonvalue.Encode(jsonvalue.Decode(c.rec.Args)))
}

// earlierKey returns the idempotency key of an identical earlier call that may have taken
// effect, or "".
func (c *toolRun) earlierKey() string {
	known := c.s.r.root().uncertainKeys
	if len(known) == 0 {
		return ""
	}
	return known[c.identity()]
}

// settleEffect updates uncertainKeys after a call; f is its failure, or nil.
func (c *toolRun) settleEffect(f *journal.Failure) {
	root := c.s.r.root()
	switch {
	case f == nil && c.reusedKey != "":
		delete(root.uncertainKeys, c.identity())
	case f != nil && c.reusedKey == "":
		if used := statsOf(f).Key; used != "" {
			if root.uncertainKeys == nil {
				root.uncertainKeys = uncertainKeys{}
			}
			if id := c.identity(); root.uncertainKeys[id] == "" {
				root.uncertainKeys[id] = used
			}
		}
	}
	if f != nil && f.Code == tool.CodeUnknownOutcome {
		c.rec.Status = tool.CallUnknown
		c.s.Record(engine.WarningAdded{Text: fmt.Sprintf("the outcome of a call of %s is unknown, and it may have taken effect (on_unknown: continue)", c.rec.Tool)})
	}
}
