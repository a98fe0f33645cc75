package engine

import (
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/graph"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/tool"
)

// Node is one node of the graph. Run reads like the algorithm it is: whatever
// touches the world goes through s, and between such effects the code is pure
// (no clock, chance, I/O, goroutine, lock or map order), because a resumed run
// runs it again. It says what happened with s.Record, as it happens.
type Node interface {
	Run(s Scope) error
}

// Prompter is a capability of a Node that prompts a model: the messages it
// would send in a state, without sending them; none where another program does
// its work.
type Prompter interface {
	Prompt(v View) []model.Message
}

// Requester is a capability of a Prompter: the whole call it would make in a
// state, the messages of Prompt among it.
type Requester interface {
	Call(v View) model.Call
}

// ToolUser is a capability of a Node that deals with tools: those that it
// calls, offers to its model or describes to it, in spec order.
type ToolUser interface {
	Tools(v View) []tool.Info
}

// ToolCaller is a capability of a ToolUser whose tools are called on its behalf.
// A ToolUser without it only describes them to its model.
type ToolCaller interface {
	ToolUser
	CallsTools()
}

// Planner is a capability of a Node that makes plans. A run returns to it for a
// new plan where no PlanReviewer is nearer.
type Planner interface {
	PlanRules() PlanRules
}

// PlanRules are the rules for the plans of a Planner. All nodes that work on
// such a plan keep to them.
type PlanRules struct {
	Format       string              // list, steps or dag
	MaxRepairs   int                 // how often a model is asked again for a usable plan
	Approval     component.GuardRef  // whether a person sees a plan before it runs
	Prompt       component.PromptRef // parameters.planner_prompt
	SystemPrompt component.PromptRef // also of a PlanReviewer that has none
}

// PlanReviewer is a capability of a Node that looks at the results of steps and
// replaces what remains of the plan, or answers. It has the last turn of a run
// that has used up limits.max_steps.
type PlanReviewer interface {
	ReviewPrompt() component.PromptRef // parameters.reflect_prompt
}

// StepRunner is a capability of a Node that runs the steps of a plan.
type StepRunner interface {
	StepTools(v View) []tool.Info // those that steps can use, in spec order
}

// Finalizer is a capability of a Node that writes the answer of a run. The
// runtime runs it, in the graph or beside it, when a limit ends a run without an
// answer.
//
// FinalizeAnswer validates and records the answer of a walk that has reached the
// end. If no node answered, the output of the node before the end is used. The
// error says why the run has no answer.
type Finalizer interface {
	FinalizeAnswer(s Scope, before string) error
}

// Describer is a capability of a Node: what pictures of the graph show of it, beside
// the models, agents and tools of its worst case (see Bounded), the approval of its
// plans (see Planner) and the guards that are tried at it.
type Describer interface {
	Describe() []graph.Note
}

// TokenReserver is a capability of a node's Config: the tokens of
// limits.max_tokens that are kept for the final answer; 0 = the default.
type TokenReserver interface {
	ReservedTokens() int
}

// NodeSettings is what the compiler passes to a node's factory.
type NodeSettings struct {
	ID   string
	Take BatchSize // for a StepRunner: how much of the plan one visit runs
}

// BatchSize says how much of a plan one visit of a StepRunner runs.
type BatchSize string

// The takes: one step; the steps that are ready, side by side; all that remain.
const (
	OneStep    BatchSize = "one"
	ReadySteps BatchSize = "round"
	AllSteps   BatchSize = "all"
)

// GraphBuilder is a capability of a node's Config that has a strategy: the edges of
// the default graph that it wants, and how much of a plan is run at a time.
type GraphBuilder interface {
	Wire() GraphSpec
}

// GraphSpec is a graph as a Config wants it, before its guards are compiled.
type GraphSpec struct {
	Take  BatchSize
	Nodes []NodeSpec
	Edges []EdgeSpec
}

// NodeSpec is a node beyond those that the language has sections for.
type NodeSpec struct {
	ID     string
	Type   string
	Config any // a pointer, as its Factory's Config returns
}

// EdgeSpec is an edge; an empty When always holds. EachFresh tries the guard
// once for every step that ended since the last look at the plan.
type EdgeSpec struct {
	From, To  string
	When      component.GuardRef
	EachFresh bool
}

// End is the id that edges to the end of a graph lead to.
const End = "end"
