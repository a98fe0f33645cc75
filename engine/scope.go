package engine

import (
	"encoding/json"
	"errors"
	"time"

	"github.com/pexctl/pex/engine/interrupt"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/plan"
	"github.com/pexctl/pex/engine/tool"
)

// Scope gives a node access to effects. Each effect is journaled under a path below the
// scope's own; names are unique within a scope. A scope belongs to one branch of one run.
// Once the run is stopping, every effect and every wait returns its *stop.Error; facts
// are still recorded.
//
// The implementation that runs programs is in engine/runtime. enginetest.Scope drives a
// node in memory, and enginetest.ScopeSuite tests implementations against this contract.
type Scope interface {
	Effects
	Control
	Knowledge
}

// Effects are the side effects of a node.
type Effects interface {
	// Model calls an LLM within the budget, with retries and fallbacks. The error is a
	// *model.Error, or a *stop.Error if a budget is used up or the program has no such
	// LLM.
	Model(name string, c model.Call) (*model.Reply, error)
	// Tool calls a tool, with its guards and approval. Failures of the tool are in the
	// record: an unknown name, invalid arguments, a denial and a timeout are data for the
	// model. An error concerns the run: a stop, a cut, an open question; the record of an
	// interrupted call still has a status. A *ReplanError comes from a guard: before the
	// tool the call is not made and its record says so, after it the record is kept; the
	// caller ends its step as cancelled. wrote reports that the call may have changed
	// something.
	Tool(name string, u Invocation) (rec tool.Record, wrote bool, err error)
	// Agent runs another program as part of this run: in the same journal and event
	// stream, with paths below name. It draws on this run's budget and has its own
	// limits. Its result is data even if it failed or rejected the parameters. An error
	// concerns this run; it is a *stop.Error if no host connects the agent.
	Agent(name string, p *Program, params map[string]any) (*Result, error)
	// Ask asks a human and waits for the answer, however long it takes: the process may
	// end meanwhile.
	Ask(name string, q interrupt.Question) (interrupt.Decision, error)
	// Sleep waits durably.
	Sleep(name string, d time.Duration) error
	// Record records a fact: the state changes at once, and events are sent when it is
	// durable. Views taken before do not change.
	Record(f Fact)
}

// Control controls branches.
type Control interface {
	// Child returns a scope with a longer path in the same branch.
	Child(name string) Scope
	// Parallel runs n branches, interleaved only at effects, and waits for all of them.
	// It joins their errors in branch order.
	Parallel(n int, name func(int) string, f func(int, Scope) error) error
	// Timeout runs f. When d of active time has passed, every wait below returns an error
	// that TimedOut recognizes, and so does Timeout, even if f returns nil. Zero = no
	// timeout. Writes in flight are not interrupted.
	Timeout(name string, d time.Duration, f func(Scope) error) error
	// Await blocks this branch until cond returns true; cond may read state shared by
	// branches.
	Await(cond func() bool) error
	// Guards evaluates the guards of a place in order; the first that fires decides. A
	// guard that ends the run returns a *stop.Error. env returns the variables of an
	// expression; nil = View().Env.
	Guards(at GuardPlace, env func(source string) map[string]any) (Verdict, error)
	// Exceeded reports whether a limit is exceeded. Nodes must call it before they end a
	// run at a limit that can be raised on resume; over is called again after each raise.
	Exceeded(over func(Limits) bool) bool
}

// Knowledge is what a node may read without an effect.
type Knowledge interface {
	// View returns the current view of the run.
	View() View
	// Now returns the active time of the run at the last delivered record.
	Now() time.Duration
	// Path returns the scope's effect path.
	Path() string
	// ID returns a stable id: a hash of run, path and name.
	ID(name string) string
	// Nth numbers repeated names within a run: "plan.1", "plan.2", ...
	Nth(name string) string
	// Omits reports that the rest of the journal has no effect below name: the earlier
	// version of pexctl that wrote it issued none there.
	Omits(name string) bool
	// Fits checks arguments against a tool's schema without calling it.
	Fits(tool string, args json.RawMessage) error
}

// Invocation is a call of a tool for a step.
type Invocation struct {
	Tool      string
	Args      json.RawMessage   // as the model wrote them; "" = {}
	Repairs   []tool.ArgsRepair // changes needed to parse Args from what the model wrote
	CallID    string            // the model's id of the call, if any
	StepID    string
	Step      *plan.StepRecord  // the step so far, for guards; nil = none
	Truncated bool              // the reply was cut off at its output limit, so Args may be incomplete
	Refuse    string            // reason for not making the call, for the model; "" = make it
	Obsolete  func() error      // called after a wait: returns why the call is no longer wanted, or nil; may be nil
	Context   *tool.PlanContext // see tool.Call.Context
}

// TimedOut reports whether err is the timeout error of a Scope.Timeout. Implementations
// mark it with the method ScopeTimedOut.
func TimedOut(err error) bool {
	_, ok := errors.AsType[interface {
		error
		ScopeTimedOut()
	}](err)
	return ok
}
