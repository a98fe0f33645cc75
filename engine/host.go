package engine

import (
	"cmp"
	"encoding/json"
	"errors"
	"time"

	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/kernel"
	"github.com/pexctl/pex/engine/secret"
)

// Host is what a run may touch: live models and tools by the names the program
// uses, and what else it needs. It may be shared by runs of the same program.
type Host struct {
	Models map[string]Model
	// Embedders are the llms that make vectors for tools, by name; nil = none does.
	Embedders map[string]Embedder
	Tools     []HostTool
	Memory    Memory // nil = none
	People    People // nil = questions park the run
	Sinks     []Sink
	Nested    func(p *Program, parameters map[string]any) (Host, error) // the host of an agent within the agent
	Env       func(string) string                                       // environment variables for the "env" namespace; nil = none

	// Repair reads malformed arguments as the only JSON object that fits. repairs
	// lists what it changed; an error says why there is no such object. Nil =
	// the model is asked again.
	Repair func(MalformedArguments) (args json.RawMessage, repairs []string, err error)

	// Secrets are taken out of what models and tools give, before anyone sees
	// it: no node, no journal, no sink. Nil = there are none.
	Secrets *secret.Values
}

// FitFunc checks arguments against a schema and coerces what loses nothing ("3"
// to 3). coerced lists what it changed; the error says to a model what is wrong.
type FitFunc func(args json.RawMessage) (fit json.RawMessage, coerced []ArgsRepair, err error)

// MalformedArguments are arguments that are not JSON, or do not fit the schema.
type MalformedArguments struct {
	Text string
	// Fits says whether a reading of the text fits the tool's schema.
	Fits func(json.RawMessage) bool
	// OtherTool says whether a name is that of another tool of the run.
	OtherTool func(name string) bool
}

// HostTool is a live tool and how it is bound.
type HostTool struct {
	Spec *ToolSpec
	Tool Tool
	// Fit checks arguments against the tool's schema; nil = any fit.
	Fit FitFunc

	// FitTo makes Fit for a tool of a Toolset of its input schema.
	FitTo func(schema json.RawMessage) (FitFunc, error)
	// Pinned holds what a Toolset lists, as models will be told of it, against
	// what is pinned: an error that wraps ErrToolsChanged refuses the run. Nil =
	// nothing is pinned.
	Pinned func(*Listing) error
}

// Input is what one run is given. The start record keeps it.
type Input struct {
	RunID      string         `json:"run_id"`
	Parameters map[string]any `json:"parameters,omitempty"` // checked, defaults applied; holds the question
	MemoryID   string         `json:"memory_id,omitempty"`  // "" = a new conversation
	Files      []string       `json:"files,omitempty"`      // as prompts show them
	FilesDir   string         `json:"files_dir,omitempty"`  // absolute: relative ones start here; "" = tools read them where they may read anyway

	// ExecutorMemoryID names the steps that the executor goes on with; "" = those
	// of the conversation.
	ExecutorMemoryID string `json:"executor_memory_id,omitempty"`

	// Earlier is what was said before the run, oldest first, as whoever started
	// it knows it; in prompts it stands behind what the memory holds.
	Earlier []Interaction `json:"earlier,omitempty"`

	// Aside keeps the run's answer out of its conversation: a fork tries
	// something, and nobody who goes on with the conversation wants to know.
	Aside bool `json:"aside,omitempty"`

	Origin *Origin `json:"origin,omitempty"` // where the spec was found; nil = nobody will resume the run
	From   *Source `json:"from,omitempty"`   // what answers effects of the run besides the world; nil = nothing
}

// Conversation returns the id of the conversation that the run belongs to:
// MemoryID, or the id of the new conversation that the run starts.
func (in Input) Conversation() string { return cmp.Or(in.MemoryID, kernel.ID(in.RunID, "", "memory")) }

// Origin is where a spec was found: what a later session needs to find the
// files, tools and memory that go with it.
type Origin struct {
	Spec    string   `json:"spec"`              // path of its file, absolute
	Dir     string   `json:"dir"`               // its folder, absolute
	Root    string   `json:"root"`              // the project root, absolute
	Allow   []string `json:"allow,omitempty"`   // folders outside of it that tools may use, absolute
	Set     []string `json:"set,omitempty"`     // overrides that the program holds,
	Environ []string `json:"environ,omitempty"` // and those from the environment: "PEX_SET_...=..."
	Tenant  string   `json:"tenant,omitempty"`
	Version string   `json:"version,omitempty"` // of the program that started the run

	// Prices are what llms cost whose spec does not say it, by what their price
	// depends on: the run is accounted by them for as long as it goes on.
	Prices map[string]Cost `json:"prices,omitempty"`
}

// Source is a run whose records answer effects of this one.
type Source struct {
	Run     string   `json:"run,omitempty"`      // id of a run of the same home, or
	File    string   `json:"file,omitempty"`     // path of a cassette, absolute
	Until   uint64   `json:"until,omitempty"`    // a fork: records before this one count; 0 = all
	Layers  []string `json:"layers,omitempty"`   // llm, tool, ...; none = all
	OnDrift string   `json:"on_drift,omitempty"` // fail (the default) or live
}

// Options are how a run runs; the zero value runs in memory.
type Options struct {
	Journal      journal.Journal            // nil = nothing is kept
	Virtual      bool                       // virtual time: waits cost nothing, fresh runs give the same journal
	Wall         func() time.Time           // nil = the machine's, 1970 in virtual time
	Grace        time.Duration              // how long open effects may go on after ctx ended
	By           Actor                      // who makes the decisions of this session; zero = the journal does not say
	Cancel       <-chan struct{}            // closed by a decision to cancel
	CancelledBy  func() Actor               // who made it; nil = By
	Answers      map[string]json.RawMessage // to open questions, by path
	Resolve      map[string]string          // writes in doubt, by path: done:<json>, redo, skip
	More         *More                      // what the run is given more of; nil = nothing
	Recorded     *Recording                 // answers effects; nil = the world does
	Follow       *Follow                    // only look on at what the journal holds; nil = run
	Version      string                     // of the program; prompts of another one may differ from the recorded ones
	Conversation bool                       // keep every message for the result
	Stream       bool                       // ask models to stream, for the sinks
	Tracer       Tracer                     // hears which ways the run takes; nil = nobody
}

// Close ends what the host's toolsets began.
func (h *Host) Close() error {
	var errs []error
	for i := range h.Tools {
		if set, ok := h.Tools[i].Tool.(Toolset); ok {
			errs = append(errs, set.Close())
		}
	}
	return errors.Join(errs...)
}
