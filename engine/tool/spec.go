package tool

import (
	"time"

	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/retry"
)

// Spec is one tool of the spec.
type Spec struct {
	Name           string
	Type           string // component type: "calculator", "command", ...
	Config         any
	Description    string // "" = the tool's own
	Effect         Effect // "" = the tool's own
	Approval       component.GuardRef
	OnUnknown      OnUnknown     // "" = ReviewUnknown
	Timeout        time.Duration // 0 = DefaultTimeout
	MaxOutputBytes int           // 0 = DefaultMaxOutput
	MaxConcurrent  int           // calls at once, of a toolset's tools together; 0 = DefaultConcurrency
	Retry          retry.Policy
	With           []Fixed // argument values a model cannot override
	OutputFilter   component.FilterRef
	IncludeOutput  bool     // include_output_in_agent_response
	LLMs           []string // that its settings name, and it may ask
}

// Fixed is an argument the author fixed.
type Fixed struct {
	Name  string
	Value component.Value
}

// Defaults of a tool's bounds.
const (
	DefaultTimeout = 60 * time.Second
	// DefaultConcurrency bounds the processes and connections of one tool.
	DefaultConcurrency = 16
	DefaultMaxOutput   = 64 << 10 // bytes
)
