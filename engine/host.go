package engine

import (
	"encoding/json"
	"time"

	"github.com/pexctl/pex/engine/journal"
)

// Host is what a run may touch: live models and tools by the names the program
// uses, and what else it needs. It may be shared by runs of the same program.
type Host struct {
	Models map[string]Model
	Tools  []HostTool
	Memory Memory // nil = none
	People People // nil = questions park the run
	Sinks  []Sink
	Nested func(p *Program, parameters map[string]any) (Host, error) // the host of an agent within the agent
	Env    func(string) string                                       // environment variables for the "env" namespace; nil = none
}

// HostTool is a live tool and how it is bound.
type HostTool struct {
	Spec *ToolSpec
	Tool Tool
	// Fit checks arguments against the tool's schema and mends what is
	// harmless ("3" for 3); its error tells a model what to change. Nil = any.
	Fit func(args json.RawMessage) (json.RawMessage, error)

	known Effect // effect, asked once a run
}

// Input is what one run is given.
type Input struct {
	RunID      string
	Parameters map[string]any // checked, defaults applied; holds the question
	MemoryID   string         // "" = a new conversation
	Files      []string
}

// Options are how a run runs; the zero value runs in memory.
type Options struct {
	Journal      journal.Journal            // nil = nothing is kept
	Virtual      bool                       // virtual time: waits cost nothing, fresh runs give the same journal
	Wall         func() time.Time           // nil = the machine's, 1970 in virtual time
	Grace        time.Duration              // how long open effects may go on after ctx ended
	Cancel       <-chan struct{}            // closed by a decision to cancel
	Answers      map[string]json.RawMessage // to open questions, by path
	Resolve      map[string]string          // writes in doubt, by path: done:<json>, redo, skip
	Conversation bool                       // keep every message for the result
	Stream       bool                       // ask models to stream, for the sinks
}

// ToolInfos is what models and guards know of the tools, in spec order.
func (h *Host) ToolInfos() []ToolInfo {
	out := make([]ToolInfo, len(h.Tools))
	for i := range h.Tools {
		out[i] = h.Tools[i].info()
	}
	return out
}
