package tool

import (
	"time"

	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/interrupt"
	"github.com/pexctl/pex/engine/retry"
)

// Spec is a tool of the spec.
type Spec struct {
	Name           string
	Type           string // component type: "calculator", "command", ...
	Config         any
	Description    string // "" = the tool's own
	Effect         Effect // "" = the tool's own
	Approval       component.GuardRef
	Rule           interrupt.Rule // who may answer questions about calls
	OnUnknown      OnUnknown      // "" = ReviewUnknown
	Timeout        time.Duration  // 0 = DefaultTimeout
	MaxOutputBytes int            // 0 = DefaultMaxOutput
	MaxConcurrent  int            // concurrent calls, for a toolset of all its tools; 0 = DefaultConcurrency
	Retry          retry.Policy
	With           []Fixed // arguments that a model cannot override
	OutputFilter   component.FilterRef
	IncludeOutput  bool     // include_output_in_agent_response
	LLMs           []string // LLMs named in its settings, which it may call
	// Host is the label of the machines that run the tool if several share the work: "" = every
	// machine can; AnyHost = every machine has what the tool needs (see HostBound).
	Host string
	// Stateful reports that the tool stores a part of the session state; see SessionKeeper.
	Stateful bool
}

// NeedsHost returns what the tool needs of a machine (see HostBound) if its spec does not say which
// machines have it; "" = nothing.
func (s *Spec) NeedsHost() string {
	if c, ok := s.Config.(HostBound); ok && s.Host == "" {
		return c.NeedsHost()
	}
	return ""
}

// Fixed is an argument fixed by the author.
type Fixed struct {
	Name  string
	Value component.Value
}

// AnyHost is the value of Spec.Host for a tool whose files and programs every machine has.
const AnyHost = "any"

// Defaults of a tool's limits.
const (
	DefaultTimeout = 60 * time.Second
	// DefaultConcurrency limits the processes and connections of one tool.
	DefaultConcurrency = 16
	DefaultMaxOutput   = 64 << 10 // bytes
)
