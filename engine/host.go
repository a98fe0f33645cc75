package engine

import (
	"encoding/json"
	"errors"

	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/interrupt"
	"github.com/pexctl/pex/engine/memory"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/secret"
	"github.com/pexctl/pex/engine/tool"
)

// Host is what a run may touch: live models and tools by the names the program
// uses, and what else it needs. It may be shared by runs of the same program.
type Host struct {
	Models map[string]model.Model
	// Embedders are the llms that make vectors for tools, by name; nil = none does.
	Embedders map[string]model.Embedder
	Tools     []tool.Binding
	Memory    memory.Store     // nil = none
	People    interrupt.People // nil = questions park the run
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

// MalformedArguments are arguments that are not JSON, or do not fit the schema.
type MalformedArguments struct {
	Text string
	// Fits says whether a reading of the text fits the tool's schema.
	Fits func(json.RawMessage) bool
	// OtherTool says whether a name is that of another tool of the run.
	OtherTool func(name string) bool
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
	Earlier []memory.Interaction `json:"earlier,omitempty"`

	// Aside keeps the run's answer out of its conversation: a fork tries
	// something, and nobody who goes on with the conversation wants to know.
	Aside bool `json:"aside,omitempty"`

	Origin *Origin `json:"origin,omitempty"` // where the spec was found; nil = nobody will resume the run
	From   *Source `json:"from,omitempty"`   // what answers effects of the run besides the world; nil = nothing
}

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
	Prices map[string]model.Cost `json:"prices,omitempty"`
}

// Source is a run whose records answer effects of this one.
type Source struct {
	Run     string   `json:"run,omitempty"`      // id of a run of the same home, or
	File    string   `json:"file,omitempty"`     // path of a cassette, absolute
	Until   uint64   `json:"until,omitempty"`    // a fork: records before this one count; 0 = all
	Layers  []string `json:"layers,omitempty"`   // llm, tool, ...; none = all
	OnDrift string   `json:"on_drift,omitempty"` // fail (the default) or live
}

// Close ends what the host's toolsets began.
func (h *Host) Close() error {
	var errs []error
	for i := range h.Tools {
		if set, ok := h.Tools[i].Tool.(tool.Toolset); ok {
			errs = append(errs, set.Close())
		}
	}
	return errors.Join(errs...)
}

// Catalog is every component that specs may name, one set a kind.
type Catalog struct {
	Models component.Set[model.Settings, model.Model]
	Tools  component.Set[tool.Settings, tool.Tool]
	Nodes  component.Set[NodeSettings, Node]
}
