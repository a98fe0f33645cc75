package tool

import (
	"context"
	"encoding/json"

	"github.com/pexctl/pex/engine/component"
)

// Toolset is a capability of a Tool that stands for many: a server that is asked
// what it offers. It is not called itself; a run lists it when it begins, keeps
// what it heard in its journal, and calls what Bind gives. Its Info is the
// entry's: what an author who writes nothing gets.
type Toolset interface {
	Tool
	// List asks for the definitions. It runs once a run; an error leaves the run
	// without these tools, and is told.
	List(ctx context.Context, call *Call) (*Listing, error)
	// Bind gives the tool of a definition, which may have been listed by another
	// process: before the first call to a server that this process has not
	// listed, the tool sees to it that the definition is still the same. Bind
	// opens nothing.
	Bind(def Definition) Tool
	// Rules are what the author wrote about the tools. They do not change.
	Rules() Rules
	// Close ends what List and Call began: no process stays behind.
	Close() error
}

// Listing is what a toolset offers.
type Listing struct {
	Server   string       `json:"server"`             // who answered: name and version, as told
	Tools    []Definition `json:"tools"`              // in the server's order
	Warnings []string     `json:"warnings,omitempty"` // what was left out, and why
}

// Definition is what a toolset says of one of its tools: data that is
// journaled with the run and pinned beside the spec.
type Definition struct {
	Name        string          `json:"name"` // the server's own
	Title       string          `json:"title,omitempty"`
	Description string          `json:"description,omitempty"`
	Input       json.RawMessage `json:"input_schema"`
	Output      json.RawMessage `json:"output_schema,omitempty"`
	Hints       Hints           `json:"hints,omitzero"`
	// Own says that the toolset made the tool itself, of what is none, such as
	// the reading of resources: that it only reads is its own word.
	Own bool `json:"own,omitempty"`
}

// Hints are what a server claims its tool does; nil = it does not say. A
// claim is not believed where it would loosen something.
type Hints struct {
	ReadOnly    *bool `json:"read_only,omitempty"`
	Destructive *bool `json:"destructive,omitempty"`
	Idempotent  *bool `json:"idempotent,omitempty"`
	OpenWorld   *bool `json:"open_world,omitempty"`
}

// Rules are what an author writes about the tools of a server.
type Rules struct {
	Include   []string // names or globs of the server's own names; none = all
	Exclude   []string // likewise, left out again
	Overrides []Override
	Sampling  Sampling
}

// Override is what an author says of one tool of a server.
type Override struct {
	Name        string // the server's own
	Description string
	Effect      Effect
	Approval    component.GuardRef
	OnUnknown   OnUnknown
	With        []Fixed
}

// Sampling is what a tool may ask of an llm of the spec in the middle of a call.
// The zero value forbids it.
type Sampling struct {
	LLM       string // name of the llm
	MaxCalls  int    // per call of a tool
	MaxTokens int    // input and output of one of them
}

// MemberName is what a run calls a tool of a toolset: the entry's name, two
// underscores, and the server's name for it, of which what model providers do
// not take in a name becomes an underscore.
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

// MaxName is how long the names of tools may be that model providers take.
const MaxName = 64 // OpenAI's and Anthropic's bound, in characters
