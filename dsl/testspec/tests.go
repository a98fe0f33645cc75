package testspec

import "github.com/pexctl/pex/engine"

// Position is the place of something that the author wrote.
type Position struct {
	File   string `json:"file"` // as in diagnostics
	Line   int    `json:"line"`
	Column int    `json:"column"`
}

// Check is one check of a suite or test: the keys common to all checks, and those
// of its type.
type Check struct {
	Type     string
	Name     string  // in reports; by default the type, numbered if it is not unique
	Weight   float64 // default 1; 0 to observe only
	Negate   bool    // not: true
	Config   any     // the decoded result of Blueprint.Config
	Position Position
}

// Tests is a file of tests, or the tests in a spec.
type Tests struct {
	File  string // absolute
	Dir   string // absolute: the folder of its relative paths
	Root  string // absolute
	Cases []Case
	Files []string // absolute paths of the files read, for watching, without specs under test
}

// Case is one test of a spec. Numbers in values of any type have the form of
// jsonvalue.Plain.
type Case struct {
	Name         string
	Description  string
	Position     Position
	Dir          string         // absolute: the folder of its relative paths
	Spec         string         // absolute path of the spec under test
	Set          []string       // overrides of the spec, "path=yaml"
	Parameters   map[string]any // checked against the spec's declarations, without its defaults
	Render       []string       // nodes whose prompts are compared, with "all" expanded; empty if none
	Given        []byte         // JSON: the state for rendering, in the form of a result; nil if none
	Golden       string         // absolute: a folder, or the file of the only prompt; "" if nothing is compared
	FormerGolden string         // absolute: the former folder of the golden files; "" if it is the same
	Run          *CaseRun       // nil if the case runs nothing
	Inject       []Inject
	Checks       []Check // expect and trajectory become checks of the types expr and trajectory
	Redact       []Redact
}

// CaseRun defines the simulated models, tools and answers of a run.
type CaseRun struct {
	Cassette string            // absolute, and need not exist yet; "" if none
	Replies  any               // Config of the catalog's provider "scripted", for every LLM; nil for the spec's own LLMs
	Answers  map[string]string // to questions, by path or kind; "*" for any other
	By       *engine.Actor     `json:",omitempty"` // who gives the answers; nil = unknown
	Tools    map[string][]ToolAnswer
	Files    []string // attached files
	MemoryID string
	Position Position
}

// ToolAnswer is the result of a tool that is not called: the calls of a tool use
// its answers in turn, and the last one for all further calls.
type ToolAnswer struct {
	Result any    // text, or any JSON value
	Error  string // if not "", the call fails
}

// Inject is a fault injected into one call.
type Inject struct {
	Tool     string // name, or
	Role     string
	Call     int // number of the call, from 1, among those of that tool or role in the run; 0 for every call
	Error    InjectedError
	Position Position
}

// InjectedError is a kind of fault.
type InjectedError string

// Kinds of faults. A tool supports InjectTimeout, Inject429, Inject500 and
// InjectBadJSON.
const (
	InjectTimeout   InjectedError = "timeout"   // no answer in time
	Inject429       InjectedError = "429"       // rate limited, after all retries
	Inject500       InjectedError = "500"       // server error, after all retries
	InjectBadJSON   InjectedError = "bad_json"  // an invalid JSON reply
	InjectTruncated InjectedError = "truncated" // a reply truncated to half by max_tokens
	InjectRefusal   InjectedError = "refusal"   // the model declines
)

// Redact replaces text that differs between runs by <Name:1>, <Name:2>, ...:
// equal texts get the same number.
type Redact struct {
	Name    string // "id"
	Pattern string // a valid regular expression; its first group, if any, is the text; or
	Path    string // JSON pointer into trajectory.json, * for any
}
