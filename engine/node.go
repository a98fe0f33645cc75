package engine

import (
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/graph"
	"github.com/pexctl/pex/engine/interrupt"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/tool"
)

// Node is a node of the graph. Run reads like the algorithm it implements: every side
// effect goes through s. Between effects the code must be deterministic (no clock, random
// numbers, I/O, goroutines, locks or map order), because a resumed run executes it again.
// It records what happens with s.Record.
type Node interface {
	Run(s Scope) error
}

// Prompter is a Node that prompts a model. Prompt returns the messages it would send in a
// state, or none if another program does the work.
type Prompter interface {
	Prompt(v View) []model.Message
}

// Requester is a Prompter that returns the complete call it would make in a state,
// including the messages of Prompt.
type Requester interface {
	Call(v View) model.Call
}

// ToolUser is a Node that calls tools, offers them to its model or describes them to it.
// Tools returns them in spec order.
type ToolUser interface {
	Tools(v View) []tool.Info
}

// ToolCaller is a ToolUser whose tools are called. Any other ToolUser only describes them
// to its model.
type ToolCaller interface {
	ToolUser
	CallsTools()
}

// Planner is a Node that makes plans. A run returns to it for a new plan if no
// PlanReviewer is nearer.
type Planner interface {
	PlanRules() PlanRules
}

// PlanRules are the rules for a Planner's plans, which all nodes that work on them
// follow.
type PlanRules struct {
	Format       string              // list, steps or dag
	MaxRepairs   int                 // how often a model is called again for a valid plan
	Approval     component.GuardRef  // whether a human reviews a plan before it runs
	Approvers    interrupt.Rule      // who may approve it
	Prompt       component.PromptRef // parameters.planner_prompt
	SystemPrompt component.PromptRef // also for a PlanReviewer that has none
}

// PlanReviewer is a Node that reviews the results of steps and replaces the rest of the
// plan, or answers. It gets the last turn of a run that has reached limits.max_steps.
type PlanReviewer interface {
	ReviewPrompt() component.PromptRef // parameters.reflect_prompt
}

// StepRunner is a Node that runs the steps of a plan.
type StepRunner interface {
	StepTools(v View) []tool.Info // available to steps, in spec order
}

// Finalizer is a Node that writes the answer of a run. The runtime runs it, in the graph
// or outside of it, when a limit ends a run without an answer.
//
// FinalizeAnswer validates and records the answer when the walk has reached the end. If
// no node produced one, the output of the last node (before) is used. The error says why
// the run has no answer.
type Finalizer interface {
	FinalizeAnswer(s Scope, before string) error
}

// FileAttacher is a Node whose model calls set model.Call.Files. AttachesFiles returns the
// name of the LLM, or "" if another program makes the calls.
type FileAttacher interface {
	AttachesFiles() string
}

// Describer is a Node with notes for pictures of the graph, in addition to its models,
// agents and tools (see Bounded), the approval of its plans (see Planner) and its guards.
type Describer interface {
	Describe() []graph.Note
}

// TokenReserver is a node's Config that sets how much of limits.max_tokens is reserved
// for the final answer; 0 = the default.
type TokenReserver interface {
	ReservedTokens() int
}

// NodeSettings are the settings that the compiler passes to a node's factory.
type NodeSettings struct {
	ID    string
	Batch BatchSize // for a StepRunner: how much of the plan one visit runs
}

// BatchSize is how much of a plan one visit of a StepRunner runs.
type BatchSize string

// The batch sizes: one step; the ready steps in parallel; all remaining steps.
const (
	OneStep    BatchSize = "one"
	ReadySteps BatchSize = "round"
	AllSteps   BatchSize = "all"
)

// GraphBuilder is a node's Config that defines the edges of the default graph and the
// batch size.
type GraphBuilder interface {
	DefaultGraph() GraphSpec
}

// GraphSpec is the graph that a Config defines, before its conditions are compiled.
type GraphSpec struct {
	Batch BatchSize
	Nodes []NodeSpec
	Edges []EdgeSpec
}

// NodeSpec is a node without a section of its own in the language.
type NodeSpec struct {
	ID     string
	Type   string
	Config any // a pointer, as returned by its Factory's Config
}

// EdgeSpec is an edge; an empty When always holds. With PerEndedStep the condition is
// evaluated for each step that ended since the last review of the plan.
type EdgeSpec struct {
	From, To     string
	When         component.GuardRef
	PerEndedStep bool
}

// End is the target of edges to the end of the graph.
const End = "end"
