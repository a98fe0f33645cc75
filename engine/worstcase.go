package engine

import (
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/tool"
)

// Bounded is a Node with a known worst case: the maximum number of calls of models, tools
// and agents. Without it, the cost of a run is unbounded.
type Bounded interface {
	WorstCase(p *Program) WorstCase
}

// BoundedTool is a tool's Config with a known worst case: the maximum number of calls of
// models and agents in one call. A Config that names LLMs needs it.
type BoundedTool interface {
	WorstCase() []CallBound
}

// WorstCase is the worst case of a node and what bounds its visits.
type WorstCase struct {
	Visit         []CallBound // in one visit, excluding its steps
	Step          []CallBound // for each step it starts
	Starts        Starts
	Plans         bool    // a visit that does not answer leaves a plan with a remaining step
	AfterMaxSteps bool    // a visit after limits.max_steps answers or ends the run
	Jumps         bool    // a visit may continue at one of Replanners instead of an edge
	Visits        *Factor // maximum visits in a run that an answer ends; nil = bounded by the graph only
}

// Starts is how many steps counted by limits.max_steps a visit starts.
type Starts int

// None; one, or the run ends; at least one if the plan has a remaining step.
const (
	StartsNone Starts = iota
	StartsOne
	StartsOpen
)

// CallBound is an upper bound on the calls of a model, an agent, or a set of tools.
type CallBound struct {
	Role, LLM string   // a model, for the role
	Tokens    int      // input and output of one call; 0 = the LLM's maximum
	Agent     *Program // a nested agent
	Tools     []string // a call of one of these tools entries
	Times     []Factor // multiplied; none = once
	Unbounded string   // why the number is unbounded; "" = bounded by Times
	Vectors   bool     // embeddings for a tool instead of calls; the amount of text is unknown
}

// Factor is a factor of a number of calls.
type Factor struct {
	N     int
	Text  string   // where N comes from, in terms of the spec: "limits.max_steps 20"
	Paths []string // spec paths that N depends on
}

// MaxVisits limits the nodes visited by a walk: a cycle that starts no step and calls no
// model would never end.
const MaxVisits = 10_000

// MaxQuestions is how many questions a tool may ask humans in one call.
const MaxQuestions = 20

// MaxParts is the maximum number of segments of a tool call, which are separated by
// questions.
const MaxParts = MaxQuestions + 1

// MaxRepeats returns how many attempts a run with that many model calls may repeat,
// including its nested agents.
func MaxRepeats(calls int) int { return model.FirstRepeats + calls/model.CallsPerRepeat }

// SamplingBounds returns the worst case of a tool call's samples.
func SamplingBounds(m tool.Sampling, parts int) []CallBound {
	if m.LLM == "" {
		return nil
	}
	times := []Factor{{N: m.MaxCalls, Text: "sampling.max_calls", Paths: []string{"sampling.max_calls"}}}
	if parts > 1 {
		times = append(times, Factor{N: parts, Text: "segments of a call, separated by questions to humans"})
	}
	return []CallBound{{Role: "tool", LLM: m.LLM, Tokens: m.MaxTokens, Times: times}}
}
