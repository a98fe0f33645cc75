package tool

import (
	"context"
	"encoding/json"

	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/interrupt"
)

// Toolset is a Tool that stands for many: a server whose tools are listed. It is not
// called itself; a run lists it at the start, journals the listing, and calls the tools
// that Bind returns. Its Info holds the defaults of the entry.
type Toolset interface {
	Tool
	// List returns the definitions. It is called once per run; after an error the run
	// continues without these tools and with a warning.
	List(ctx context.Context, call *Call) (*Listing, error)
	// Bind returns the tool of a definition, which another process may have listed:
	// before its first call to a server that this process has not listed, the tool must
	// check that the definition is unchanged. Bind opens nothing.
	Bind(def Definition) Tool
	// Rules returns the author's rules for the tools. They do not change.
	Rules() Rules
	// Close ends what List and Call started, including processes.
	Close() error
}

// Listing is the list of a toolset's tools.
type Listing struct {
	Server   string       `json:"server"`             // name and version of the server
	Tools    []Definition `json:"tools"`              // in the server's order
	Warnings []string     `json:"warnings,omitempty"` // what was left out, and why
}

// Definition is a toolset's definition of a tool. It is journaled with the run and pinned
// next to the spec.
type Definition struct {
	Name        string          `json:"name"` // the server's name
	Title       string          `json:"title,omitempty"`
	Description string          `json:"description,omitempty"`
	Input       json.RawMessage `json:"input_schema"`
	Output      json.RawMessage `json:"output_schema,omitempty"`
	Hints       Hints           `json:"hints,omitzero"`
	// BuiltIn marks a tool that the toolset itself provides, such as reading resources, so
	// that its read-only hint is trustworthy.
	BuiltIn bool `json:"own,omitempty"`
}

// Hints are a server's claims about its tool; nil = no claim. Claims are not trusted
// where they would loosen something.
type Hints struct {
	ReadOnly    *bool `json:"read_only,omitempty"`
	Destructive *bool `json:"destructive,omitempty"`
	Idempotent  *bool `json:"idempotent,omitempty"`
	OpenWorld   *bool `json:"open_world,omitempty"`
}

// Rules are an author's rules for the tools of a server.
type Rules struct {
	Include   []string // the server's names, or globs; none = all
	Exclude   []string // likewise; excluded again
	Overrides []Override
	Sampling  Sampling
}

// Override overrides one tool of a server.
type Override struct {
	Name        string // the server's name
	Description string
	Effect      Effect
	Approval    component.GuardRef
	Rule        interrupt.Rule // in addition to that of the entry
	OnUnknown   OnUnknown
	With        []Fixed
}

// Sampling limits a tool's use of an LLM of the spec during a call. The zero value
// forbids it.
type Sampling struct {
	LLM       string // name of the LLM
	MaxCalls  int    // per call of a tool
	MaxTokens int    // input and output of one sample
}

// MemberName returns a run's name for a tool of a toolset: the entry's name, two
// underscores and the server's name, with characters that model providers reject replaced
// by underscores.
func MemberName(entry, tool string) string {
	clean := []byte(entry + "__" + tool)
	for i, c := range clean {
		letter := c|0x20 >= 'a' && c|0x20 <= 'z'
		if !letter && (c < '0' || c > '9') && c != '_' && c != '-' {
			clean[i] = '_'
		}
	}
	return string(clean)
}

// MaxName is the maximum length of tool names that model providers accept.
const MaxName = 64 // limit of OpenAI and Anthropic, in characters
