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

// Scope is what a node touches the world with. Each effect is journaled under a
// path below the scope's own; names are unique within a scope. A scope belongs to
// one branch of one run. Once the run is stopping, every effect and every wait
// ends with its *stop.Error; facts are still recorded.
//
// The driver that runs programs is in engine/runtime. enginetest.Scope drives a
// node in memory, and enginetest.ScopeSuite holds every driver to this contract.
type Scope interface {
	Effects
	Control
	Knowledge
}

// Effects are what a node does to the world.
type Effects interface {
	// Model calls an llm within the budget, with its retries, then its fallbacks. The
	// error is a *model.Error, or a *stop.Error where a budget is used up or the
	// program has no llm of that name.
	Model(name string, c model.Call) (*model.Reply, error)
	// Tool calls a tool, with its guards and approval. Whatever goes wrong with the
	// tool is in the record: an unknown name, bad arguments, a denial and a timeout
	// are data that the model sees. An error is the run's own: a stop, a cut, a
	// question left open; the record of a call that was cut has a status all the same.
	// A *ReplanError is a guard's: before the tool the call is not made and its record
	// says so, after it the record stands; the caller ends its step as cancelled.
	// wrote says that the call may have changed something.
	Tool(name string, u Invocation) (rec tool.Record, wrote bool, err error)
	// Agent runs another program as part of this run: the same journal and events,
	// paths below name. It draws on this run's budget and keeps its own limits. Its
	// result is data, also when it failed or does not take the parameters. An error is
	// the run's own, a *stop.Error where no host connects the agent.
	Agent(name string, p *Program, params map[string]any) (*Result, error)
	// Ask puts a question to a person and waits for the answer, as long as it
	// takes: the process may end meanwhile.
	Ask(name string, q interrupt.Question) (interrupt.Decision, error)
	// Sleep waits, durably.
	Sleep(name string, d time.Duration) error
	// Record says what happened: the state takes it over at once, and events
	// report it when it is durable. A View that was taken before does not change.
	Record(f Fact)
}

// Control is how branches run and end.
type Control interface {
	// Child is a scope with a longer path in the same branch.
	Child(name string) Scope
	// Parallel runs n branches side by side, one at a time between effects, and
	// waits for all of them. Their errors are joined, in the order of the branches.
	Parallel(n int, name func(int) string, f func(int, Scope) error) error
	// Timeout runs f; when d of active time passes first, every wait below ends
	// with an error that TimedOut recognizes, and so does Timeout, even where f
	// returns nil. Zero is no timeout. A write in flight is not cut.
	Timeout(name string, d time.Duration, f func(Scope) error) error
	// Await blocks this branch until cond holds; cond reads what branches share.
	Await(cond func() bool) error
	// Guards tries the guards of a place in the order written; the first that fires
	// decides. A guard that ends the run comes back as a *stop.Error. env is what the
	// expressions see.
	Guards(at GuardPlace, env func(source string) map[string]any) (Verdict, error)
	// Exceeded says that a limit is reached. over is asked again whenever whoever
	// resumed the run raised the limits. Nodes ask it before they end a run at a
	// limit that people may raise.
	Exceeded(over func(Limits) bool) bool
}

// Knowledge is what a node may know; none of it is an effect.
type Knowledge interface {
	// View is what the run knows now.
	View() View
	// Now is the active time of the run at the last delivered record.
	Now() time.Duration
	// Path is the scope's effect path.
	Path() string
	// ID is a stable id: a hash of run, path and name.
	ID(name string) string
	// Nth numbers what a run does more than once: "plan.1", "plan.2", ...
	Nth(name string) string
	// Omits says that the rest of the run's journal has no effect below a name: the
	// version of this program that wrote it made none there.
	Omits(name string) bool
	// Fits checks arguments against a tool's schema without calling it.
	Fits(tool string, args json.RawMessage) error
}

// Invocation is one call of a tool for a step.
type Invocation struct {
	Tool    string
	Args    json.RawMessage   // as the model wrote them: "" is {}
	Repairs []tool.ArgsRepair // what was changed to read Args out of what the model wrote
	CallID  string            // the model's id of the call, if it has one
	StepID  string
	Step    plan.StepRecord   // what the step did so far, for guards
	Cut     bool              // the model's reply ended at its output limit, so Args may be incomplete
	Refuse  string            // why the call is not to be made, for the model; "" = it is
	Moot    func() error      // asked once a call has waited: why it is not to be made any more, nil = it is; nil = it always is
	Context *tool.PlanContext // see Call.Context
}

// TimedOut reports whether err is the end of the time of a Scope.Timeout. A driver
// marks such an error with the method ScopeTimedOut.
func TimedOut(err error) bool {
	_, ok := errors.AsType[interface {
		error
		ScopeTimedOut()
	}](err)
	return ok
}
