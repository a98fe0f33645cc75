package engine

import (
	"github.com/pexctl/pex/engine/component"
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
// calls, offers to its model or tells it of, in spec order.
type ToolUser interface {
	Tools(v View) []tool.Info
}

// Concluder is a capability of the finalizer: it has the last word on the answer
// of a walk that comes to its end. One that has none takes for one what the node
// before the end gave: Conclude checks it against the spec's output and records
// it as Answered. The error says why the run has no answer.
type Concluder interface {
	Conclude(s Scope, before string) error
}

// NodeSettings is what the compiler passes to a node's factory.
type NodeSettings struct {
	ID   string
	Take BatchSize // for the executor: how much of the plan one visit runs
}

// BatchSize says how much of a plan one visit of the executor runs.
type BatchSize string

// The takes: one step; the steps that are ready, side by side; all that remain.
const (
	OneStep    BatchSize = "one"
	ReadySteps BatchSize = "round"
	AllSteps   BatchSize = "all"
)

// GraphBuilder is a capability of the reflector's Config: the edges of the default
// graph that its strategy wants.
type GraphBuilder interface {
	Wire() GraphSpec
}

// GraphSpec is a graph as a Config wants it, before its guards are compiled.
type GraphSpec struct {
	Take  BatchSize
	Nodes []NodeSpec
	Edges []EdgeSpec
}

// NodeSpec is a node beyond planner, executor, reflector and finalizer.
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
