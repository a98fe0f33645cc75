package engine

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/graph"
	"github.com/pexctl/pex/engine/interrupt"
	"github.com/pexctl/pex/engine/jsonvalue"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/retry"
	"github.com/pexctl/pex/engine/tool"
)

// Arguments returns the parameters for a call of the agent: params with defaults applied,
// validated.
func (p *Program) Arguments(params map[string]any) (map[string]any, error) {
	out := make(map[string]any, len(p.Parameters)+len(params))
	for _, q := range p.Parameters {
		v, ok := params[q.Name]
		switch {
		case ok:
			if err := q.Check.Validate(jsonvalue.Decode(jsonvalue.Encode(v))); err != nil {
				return nil, fmt.Errorf("parameter %s: %w", q.Name, err)
			}
		case q.Default != nil:
			out[q.Name] = q.Default
		case q.Required:
			return nil, fmt.Errorf("parameter %s is required", q.Name)
		}
	}
	maps.Copy(out, params)
	return out, nil
}

// Program is a compiled spec. It is immutable; runs may share it.
type Program struct {
	Name        string
	Version     string
	Description string
	Digest      string          // "sha256:" + hex of Source
	Source      json.RawMessage // the resolved spec: includes, files and overrides applied; no secrets
	Parameters  []Parameter     // in spec order; always contains question
	Models      []ModelSpec
	Tools       []tool.Spec // in spec order
	Graph       *graph.Graph[Condition]
	Nodes       map[string]Node // by the ids in Graph
	Limits      Limits
	Guards      []Guard
	Output      *Output        // nil = free text
	Memory      MemorySettings // conversation memory
	Datetime    string         // strftime format of the start time in system prompts; "" = none
	Warnings    []string
	// File is the spec's file: "" for the outermost spec; for a nested agent, relative to
	// its caller's folder.
	File string
	// Caller is the tool or node that calls a nested agent: "tools.NAME" or the node's id; ""
	// for the outermost spec.
	Caller string
	// Prompts are its prompt templates, without those of Agents; see AllPrompts.
	Prompts []Prompt
	// Agents are the programs of tools and nodes, in the order of the spec.
	Agents []*Program
	// Unpriced lists the LLMs in use without a known price.
	Unpriced []string
}

// RestrictsApprovers reports whether the program, or an agent that it calls, may have rules
// about who approves: its source has one of their keys.
func (p *Program) RestrictsApprovers() bool {
	return bytes.Contains(p.Source, []byte(`"approvers":`)) || bytes.Contains(p.Source, []byte(`"four_eyes":`)) ||
		slices.ContainsFunc(p.Agents, (*Program).RestrictsApprovers)
}

// StatefulTool returns the name of a tool of the program, or of an agent that it calls, that changes
// the session state of the conversation; "" = none.
func (p *Program) StatefulTool() string {
	if p.Memory.Backend != "none" {
		for i := range p.Tools {
			if p.Tools[i].Stateful {
				return p.Tools[i].Name
			}
		}
	}
	for _, a := range p.Agents {
		if name := a.StatefulTool(); name != "" {
			return name
		}
	}
	return ""
}

// NodeIs reports whether a node of a program has a capability.
func NodeIs[C any](p *Program, id string) bool {
	_, ok := p.Nodes[id].(C)
	return ok
}

// NodesWith returns the ids of the graph's nodes that have a capability, in order.
func NodesWith[C any](p *Program) (ids []string) {
	for i := range p.Graph.Nodes {
		if id := p.Graph.Nodes[i].ID; NodeIs[C](p, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// NodeWith returns the first node that has a capability, preferring nodes of the graph.
// The id is "" if there is none.
func NodeWith[C any](p *Program) (id string, node C) {
	for i := range p.Graph.Nodes {
		id := p.Graph.Nodes[i].ID
		if node, ok := p.Nodes[id].(C); ok {
			return id, node
		}
	}
	for other, n := range p.Nodes {
		if has, ok := n.(C); ok && (id == "" || other < id) {
			id, node = other, has
		}
	}
	return id, node
}

// Model returns the LLM with a name, or nil.
func (p *Program) Model(name string) *ModelSpec {
	for i := range p.Models {
		if p.Models[i].Name == name {
			return &p.Models[i]
		}
	}
	return nil
}

// FileModels returns the LLMs that get the files of a run, with their fallbacks: those of
// the nodes that attach files and accept some, in this program and in its agents.
func (p *Program) FileModels() (out []*ModelSpec) {
	for _, id := range slices.Sorted(maps.Keys(p.Nodes)) {
		node, ok := p.Nodes[id].(FileAttacher)
		if !ok {
			continue
		}
		m := p.Model(node.AttachesFiles())
		if m == nil || len(m.Accepts) == 0 {
			continue
		}
		out = append(out, m)
		for _, other := range m.Fallback {
			if f := p.Model(other); f != nil {
				out = append(out, f)
			}
		}
	}
	for _, agent := range p.Agents {
		out = append(out, agent.FileModels()...)
	}
	return out
}

// NodeOf returns the graph's first node of a type.
func (p *Program) NodeOf(typ string) (id string, ok bool) {
	for _, n := range p.Graph.Nodes {
		if n.Type == typ {
			return n.ID, true
		}
	}
	return "", false
}

// TypeOf returns the type of a node of the graph, or "".
func (p *Program) TypeOf(id string) string {
	for _, n := range p.Graph.Nodes {
		if n.ID == id {
			return n.Type
		}
	}
	return ""
}

// Condition is a compiled expression over the variables of package exprenv.
// component.GuardRef implements it.
type Condition interface {
	Eval(env map[string]any) (bool, error)
	String() string
}

// Parameter is a declared input.
type Parameter struct {
	Name     string
	Doc      string
	Required bool
	Default  any             // nil = none
	Schema   json.RawMessage // its JSON Schema
	Check    component.SchemaRef
}

// ModelSpec is an LLM of the spec, or a role's override of one.
type ModelSpec struct {
	Name         string
	Path         string // path of the entry or role that defines it: "llms.main"
	Provider     string
	Config       any                // the provider's Config, filled
	BaseURL      component.Template // namespaces env and parameters
	APIKeyEnv    string             // environment variable with the API key; "" = the provider's default
	SystemPrompt component.PromptRef
	Params       model.Params
	Timeout      time.Duration
	Retry        retry.Policy
	RateLimit    model.RateLimit
	Fallback     []string
	Cost         *model.Cost // nil = unknown, not free

	Accepts []model.FileKind // files of a run that go to the model; none = the model gets text only
}

// Offline reports whether the LLM needs neither network nor key.
func (m *ModelSpec) Offline() bool {
	_, ok := m.Config.(model.Offline)
	return ok
}

// FileSupport returns the files that the LLM's provider can send; none if it can send no
// files.
func (m *ModelSpec) FileSupport() model.FileSupport {
	if c, ok := m.Config.(model.Multimodal); ok {
		return c.FileSupport(m.Params.Model)
	}
	return model.FileSupport{}
}

// KeyVariables returns the key variables of the LLM's provider.
func (m *ModelSpec) KeyVariables() model.KeyVariables { return model.KeyVariablesOf(m.Config) }

// Limits are the limits of a run; zero = none. The journal stores them, MaxDuration in
// nanoseconds.
type Limits struct {
	MaxSteps                    int           `json:"max_steps,omitempty"`
	ExecutorMaxIterations       int           `json:"executor_max_iterations,omitempty"`
	MessageHistoryLimit         int           `json:"message_history_limit,omitempty"`
	ExecutorMessageHistoryLimit int           `json:"executor_message_history_limit,omitempty"`
	MaxReplans                  int           `json:"max_replans,omitempty"`
	MaxToolCalls                int           `json:"max_tool_calls,omitempty"`
	MaxConsecutiveToolCalls     int           `json:"max_consecutive_tool_calls,omitempty"`
	MaxTokens                   int           `json:"max_tokens,omitempty"`
	MaxCost                     float64       `json:"max_cost,omitempty"`
	MaxDuration                 time.Duration `json:"max_duration,omitempty"`
	ReserveTokens               int           `json:"reserve_tokens,omitempty"` // finalizer.reserve_tokens; 0 = min(2000, 20% of MaxTokens)
}

// GuardPlace is where a guard is evaluated.
type GuardPlace string

// The guard places.
const (
	AfterPlan    GuardPlace = "after_plan"
	BeforeTool   GuardPlace = "before_tool"
	AfterTool    GuardPlace = "after_tool"
	AfterStep    GuardPlace = "after_step"
	AfterReflect GuardPlace = "after_reflect"
)

// GuardAction is what a guard does when it fires.
type GuardAction string

// The guard actions.
const (
	GuardStop      GuardAction = "stop"
	GuardSucceed   GuardAction = "succeed"
	GuardFail      GuardAction = "fail"
	GuardReplan    GuardAction = "replan"
	GuardInterrupt GuardAction = "interrupt"
	GuardDeny      GuardAction = "deny"
)

// Guard is an entry of `guards:`. Its YAML path is guards[Index].
type Guard struct {
	Index   int
	Name    string
	At      GuardPlace
	When    component.GuardRef
	Do      GuardAction
	Message string
	Rule    interrupt.Rule // of interrupt: who may let the run continue
}

// Output is what a final answer must be.
type Output struct {
	Schema      component.SchemaRef
	Ensures     []component.GuardRef
	MaxAttempts int // of repairs
}

// MemorySettings configure where conversations are stored and how they are shortened.
type MemorySettings struct {
	Backend     string // badger, postgres or none
	Path        string // of badger: "" = memory below the home
	AddressEnv  string // of postgres: the environment variable that has the address of the database
	Durability  string // of the run's journal: sync, async or exit
	HideHistory bool   // prompts omit earlier turns of the conversation
	Compaction  Compaction
}
