package engine

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/interrupt"
	"github.com/pexctl/pex/engine/memory"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/secret"
	"github.com/pexctl/pex/engine/tool"
)

// Host is what a run may access: models and tools by the names in the program, and
// everything else. Runs of the same program may share it.
type Host struct {
	Models map[string]model.Model
	// Embedders are the LLMs that make embeddings for tools, by name; may be nil.
	Embedders map[string]model.Embedder
	Tools     []tool.Binding
	Memory    memory.Store        // nil = none
	Responder interrupt.Responder // nil = the run waits in the journal
	Sinks     []Sink
	Nested    func(p *Program, parameters map[string]any) (Host, error) // returns the host of a nested agent
	Env       func(string) string                                       // environment variables for the "env" namespace; nil = none

	// Repair parses malformed arguments as the only JSON object that fits. repairs lists
	// the changes; an error says why there is no such object. Nil = the model is called
	// again.
	Repair func(MalformedArguments) (args json.RawMessage, repairs []string, err error)

	// Secrets are redacted from the output of models and tools before nodes, journal or
	// sinks see it. May be nil.
	Secrets *secret.Values

	// Artifacts is the home that stores the artifacts of inputs; "" = tools cannot read them.
	Artifacts string
}

// SharedResponder is a Responder for several people: the run asks all its open questions at
// once, and each answer has an author.
type SharedResponder interface {
	interrupt.Responder
	// AskShared is Ask, and returns who answered.
	AskShared(ctx context.Context, q interrupt.Question) (answer json.RawMessage, by Actor, err error)
}

// MalformedArguments are arguments that are not valid JSON, or do not fit the schema.
type MalformedArguments struct {
	Text string
	// Fits reports whether a reading of the text fits the tool's schema.
	Fits func(json.RawMessage) bool
	// OtherTool reports whether a name belongs to another tool of the run.
	OtherTool func(name string) bool
}

// Input is the input of one run. The start record stores it.
type Input struct {
	RunID      string         `json:"run_id"`
	Parameters map[string]any `json:"parameters,omitempty"` // validated, with defaults applied; contains the question
	MemoryID   string         `json:"memory_id,omitempty"`  // "" = a new conversation
	Files      []string       `json:"files,omitempty"`      // names as shown in prompts
	FilesDir   string         `json:"files_dir,omitempty"`  // absolute folder of relative Files; "" = tools read only where they may anyway

	// Artifacts are the SHA-256 of those Files that the home stores, by name; see package
	// artifact.
	Artifacts map[string]string `json:"artifacts,omitempty"`

	// Attachments are those Files that go to the LLMs that accept them. Each of them is also one
	// of Artifacts.
	Attachments []model.Attachment `json:"attachments,omitempty"`

	// Labels are set when the run starts; lists of runs can be filtered by them.
	Labels map[string]string `json:"labels,omitempty"`

	// ExecutorMemoryID is the conversation of steps that the executor continues; "" =
	// that of the conversation.
	ExecutorMemoryID string `json:"executor_memory_id,omitempty"`

	// Earlier is the conversation before the run as its caller knows it, oldest first.
	// Prompts show it after the stored turns.
	Earlier []memory.Interaction `json:"earlier,omitempty"`

	// EarlierOnly is for callers that know the whole conversation: prompts show Earlier instead
	// of the stored turns and steps. The run is still stored in the conversation.
	EarlierOnly bool `json:"earlier_only,omitempty"`

	// Detached keeps the run out of its conversation: forks are experiments that later turns
	// should not see.
	Detached bool `json:"aside,omitempty"`

	// Agent is the name under which a server offers the program; "" = a command started the run.
	Agent string `json:"agent,omitempty"`
	// By is who started the run: the client of a server, or the user of the process if the
	// program restricts who approves; nil = unknown.
	By *Actor `json:"by,omitempty"`
	// Authors are those who started or changed the runs that a fork continues, if the program
	// restricts who approves.
	Authors []Actor `json:"authors,omitempty"`
	// Request is a digest of the client's request that started the run; "" = none. A repeated
	// request with the same id must have the same.
	Request string `json:"request,omitempty"`

	// Trace is the traceparent of who started the run; "" = none. See package tracecontext.
	Trace string `json:"trace,omitempty"`
	// TraceState is the tracestate that came with Trace; "" = none.
	TraceState string `json:"trace_state,omitempty"`

	Origin *Origin `json:"origin,omitempty"` // where the spec was found; nil = the run is not resumable
	From   *Source `json:"from,omitempty"`   // recording that answers effects; nil = none
}

// Origin is where a spec was found. Later sessions need it to find its files, tools and
// memory.
type Origin struct {
	Spec    string   `json:"spec"`              // absolute path of its file
	Dir     string   `json:"dir"`               // its absolute folder
	Root    string   `json:"root"`              // absolute project root
	Allow   []string `json:"allow,omitempty"`   // absolute folders outside Root that tools may use
	Set     []string `json:"set,omitempty"`     // overrides from flags that the program contains
	Environ []string `json:"environ,omitempty"` // overrides from the environment: "PEX_SET_...=..."
	Tenant  string   `json:"tenant,omitempty"`
	Version string   `json:"version,omitempty"` // version of pexctl that started the run

	// Prompts are the edits of prompts that the program contains, by Prompt.Name; they apply
	// after Set.
	Prompts map[string]string `json:"prompts,omitempty"`

	// Prices are the prices of LLMs whose spec has none, by what they depend on. The run
	// uses them until it ends.
	Prices map[string]model.Cost `json:"prices,omitempty"`
}

// Source is a recording that answers effects of this run.
type Source struct {
	Run     string   `json:"run,omitempty"`      // id of a run of the same home, or
	File    string   `json:"file,omitempty"`     // absolute path of a cassette
	Until   uint64   `json:"until,omitempty"`    // of a fork: use the records before this one; 0 = all
	Layers  []string `json:"layers,omitempty"`   // llm, tool, ...; none = all
	OnDrift string   `json:"on_drift,omitempty"` // fail (the default) or live
	Trace   string   `json:"trace,omitempty"`    // Input.Trace of Run
}

// Close closes the host's toolsets.
func (h *Host) Close() error {
	var errs []error
	for i := range h.Tools {
		if set, ok := h.Tools[i].Tool.(tool.Toolset); ok {
			errs = append(errs, set.Close())
		}
	}
	return errors.Join(errs...)
}

// Catalog holds all components that specs can name, one set per kind.
type Catalog struct {
	Models component.Set[model.Settings, model.Model]
	Tools  component.Set[tool.Settings, tool.Tool]
	Nodes  component.Set[NodeSettings, Node]
}
