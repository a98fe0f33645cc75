package config

import (
	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/dsl/guard"
	"github.com/pexctl/pex/dsl/specfs"
	"github.com/pexctl/pex/dsl/syntax"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/component"
)

// Unit is what one load shares between its phases.
type Unit struct {
	Report *syntax.Report
	Files  *specfs.Reader // nil until the file is open
	Read   []string       // the files that were read: absolute paths, in order
}

// Language is what a decoder asks about the file that it decodes.
type Language interface {
	// ModelRef gives a struct with a ModelRef its llm; overrides are the keys of an
	// llm beside it.
	ModelRef(v *syntax.Node, f Field, overrides *syntax.Node, path string)
	// ModelKeys are the keys that are allowed next to a ModelRef.
	ModelKeys() []string
	// AgentRef compiles the spec that a value names.
	AgentRef(v *syntax.Node, path string, a *component.AgentRef)
	// KeyAdvice suggests what to write for a key that does not exist.
	KeyAdvice(e *syntax.Entry, path string, all []string) diag.Advice
	// NamedPrompts are the prompts that {use: name} may name; nil = none.
	NamedPrompts() *syntax.Node
	// Library reports whether the file is a Library, whose texts are compiled
	// without knowing the parameters.
	Library() bool
}

// Decoder fills structs from the tree of one file and binds the references in
// them.
type Decoder struct {
	*Unit
	Language   Language
	Dir        string   // the folder that relative paths start from
	AllowPaths []string // folders outside of the root that may be read
	Strict     bool     // a key with required:"vet" is an error
	Title      string   // what messages call the file

	Parameters    []engine.Parameter
	Properties    map[string]any // the JSON Schema properties of Parameters
	envs          map[string]guard.Env
	AnyParameter  bool              // any parameter may be used: the declarations are not known
	Columns       *Columns          // what ${case.x} may name; nil = anything
	GuardPlaces   map[string]string // places of expressions that have the names of another
	InlinePrompts bool              // {use: name} is replaced by its text, for a digest

	Used     map[string]bool // references: "prompts.x", "parameters.x"; "parameters" = any
	Intended map[string]bool // paths of keys that a misspelt key is taken for
	Defaults []Origin
	Quiet    bool // record no defaults
}

// NewDecoder makes a Decoder that has no Language yet. dir is the folder that
// relative paths start from.
func NewDecoder(u *Unit, dir string) *Decoder {
	return &Decoder{
		Unit: u, Dir: dir, Title: "the spec",
		Properties: map[string]any{}, envs: map[string]guard.Env{}, Used: map[string]bool{}, Intended: map[string]bool{},
	}
}

// Refuse reports a file that is not read.
func (u *Unit) Refuse(at syntax.Position, no *specfs.Refusal) {
	u.Report.Error(no.Code, at, "%s", no.Message).Advice = no.Advice
}
