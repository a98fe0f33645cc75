package config

import (
	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/dsl/guard"
	"github.com/pexctl/pex/dsl/specfs"
	"github.com/pexctl/pex/dsl/syntax"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/component"
)

// Unit holds what the phases of one load share.
type Unit struct {
	Report    *syntax.Report
	Files     *specfs.Reader // nil until the file is open
	ReadPaths []string       // absolute paths of the files read, in order
}

// Language answers a decoder's questions about the file that it decodes.
type Language interface {
	// ModelRef resolves the LLM of a struct with a ModelRef. overrides are the LLM
	// keys beside it.
	ModelRef(v *syntax.Node, f Field, overrides *syntax.Node, path string)
	// ModelKeys returns the keys that are allowed beside a ModelRef.
	ModelKeys() []string
	// AgentRef compiles the spec that a value names.
	AgentRef(v *syntax.Node, path string, a *component.AgentRef)
	// KeyAdvice returns a suggestion for an unknown key.
	KeyAdvice(e *syntax.Entry, path string, all []string) diag.Advice
	// NamedPrompts returns the prompts that {use: name} may name, or nil if there
	// are none.
	NamedPrompts() *syntax.Node
	// Library reports whether the file is a Library. Its texts are compiled without
	// knowing the parameters.
	Library() bool
}

// Decoder fills structs from the tree of one file and binds the references in
// them.
type Decoder struct {
	*Unit
	Language   Language
	Dir        string   // the folder of relative paths
	AllowPaths []string // folders outside the root that may be read
	Strict     bool     // a key tagged required:"vet" is an error
	Title      string   // the name of the file in messages

	Parameters    []engine.Parameter
	Properties    map[string]any // the JSON Schema properties of Parameters
	envs          map[string]guard.Env
	AnyParameter  bool              // allow any parameter: the declarations are not known
	Columns       *Columns          // the columns that ${case.x} may name; nil means any
	GuardPlaces   map[string]string // places of expressions that have the names of another place
	InlinePrompts bool              // replace {use: name} by its text, for a digest

	Used     map[string]bool // references: "prompts.x", "parameters.x"; "parameters" means any
	Intended map[string]bool // paths of the likely keys for misspelt ones
	Defaults []Origin
	Prompts  []PromptUse // templates, in the order of decoding
	Quiet    bool        // record no defaults
}

// NewDecoder returns a Decoder without a Language. dir is the folder of relative
// paths.
func NewDecoder(u *Unit, dir string) *Decoder {
	return &Decoder{
		Unit: u, Dir: dir, Title: "the spec",
		Properties: map[string]any{}, envs: map[string]guard.Env{}, Used: map[string]bool{}, Intended: map[string]bool{},
	}
}

// ReportRefusal reports a file that may not be read.
func (u *Unit) ReportRefusal(at syntax.Position, no *specfs.Refusal) {
	u.Report.Error(no.Code, at, "%s", no.Message).Advice = no.Advice
}
