package engine

import (
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/tool"
)

// Bounded is a capability of a Node: the most that it asks of models, tools and
// agents, whatever they answer. Where a node has it not, nobody knows what a run
// can cost.
type Bounded interface {
	Worst(p *Program) Worst
}

// BoundedTool is a capability of a tool's Config: the most that one call of the
// tool asks of models and agents. A Config that names llms needs it.
type BoundedTool interface {
	Asks() []Ask
}

// Worst is the most that a node asks, and what bounds how often it is visited.
type Worst struct {
	Visit  []Ask // in one visit, its steps left aside
	Step   []Ask // for one step that it starts
	Starts Starts
	Plans  bool    // a visit that does not answer leaves a plan of which a step remains
	Last   bool    // a visit after limits.max_steps answers, or ends the run
	Jumps  bool    // a visit may lead to one of Replanners, whatever the edges say
	Visits *Factor // of a run that an answer ends; nil = as many as the graph allows
}

// Starts says what a visit of a node starts of the steps that limits.max_steps
// counts.
type Starts int

// The starts: none; one, or the run ends; at least one if one of the plan remains.
const (
	StartsNone Starts = iota
	StartsOne
	StartsOpen
)

// Ask is what is asked so many times: a model, an agent, or any of some tools.
type Ask struct {
	Role, LLM string   // a model, for the role
	Tokens    int      // of one such call, input and output together; 0 = what the llm takes
	Agent     *Program // a run of an agent within the run
	Tools     []string // a call of one of these entries of the spec's tools
	Times     []Factor // multiplied; none = once
	Endless   string   // why nothing bounds how often; "" = Times do
	Vectors   bool     // no calls, but vectors that the model makes for a tool: nothing says of how much text
}

// Factor is a number that how often something happens is multiplied with.
type Factor struct {
	N     int
	Text  string   // how N comes about, in the words of a spec: "limits.max_steps 20"
	Paths []string // of the spec, that N depends on
}

// MaxVisits bounds the walk along a graph, in nodes: a cycle whose nodes start no
// step and call no model would otherwise never end.
const MaxVisits = 10_000

// MaxQuestions is how many questions to people a tool may ask in one call.
const MaxQuestions = 20

// MaxParts is in how many parts a tool may make one call, a question to a person
// between two of them.
const MaxParts = MaxQuestions + 1

// MaxRepeats is how many attempts a run may repeat that makes so many calls of
// models, with the agents within it.
func MaxRepeats(calls int) int { return model.FirstRepeats + calls/model.CallsPerRepeat }

// SamplingAsks is the most that a call of a tool asks of the llm it may use.
func SamplingAsks(m tool.Sampling, parts int) []Ask {
	if m.LLM == "" {
		return nil
	}
	times := []Factor{{N: m.MaxCalls, Text: "sampling.max_calls", Paths: []string{"sampling.max_calls"}}}
	if parts > 1 {
		times = append(times, Factor{N: parts, Text: "parts of a call, between questions to people"})
	}
	return []Ask{{Role: "tool", LLM: m.LLM, Tokens: m.MaxTokens, Times: times}}
}
