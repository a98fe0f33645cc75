package testspec

// Position is the place of something that the author wrote.
type Position struct {
	File   string `json:"file"` // as diagnostics name it
	Line   int    `json:"line"`
	Column int    `json:"column"`
}

// Check is one check of a suite or test: the keys that all checks have, and
// those of its type.
type Check struct {
	Type     string
	Name     string  // as reports call it; the type, numbered where it is twice, by default
	Weight   float64 // 1 by default; 0 = only watched
	Negate   bool    // not: true
	Config   any     // what Blueprint.Config returned, filled
	Position Position
}

// Tests is a file of tests, or the tests that are in a spec.
type Tests struct {
	File  string // absolute
	Dir   string // absolute: the folder that its relative paths start from
	Root  string // absolute
	Cases []Case
	Files []string // what was read, absolute: what to watch; specs under test are not among them
}

// Case is one test of a spec. Numbers in values of any type are as
// jsonvalue.Plain has them.
type Case struct {
	Name        string
	Description string
	Position    Position
	Dir         string         // absolute: the folder that its relative paths start from
	Spec        string         // absolute path of the spec under test
	Set         []string       // overrides of the spec, "path=yaml"
	Parameters  map[string]any // held against the spec's declarations; its defaults are not filled in
	Render      []string       // nodes whose prompts are compared, "all" spelt out; none = the case renders nothing
	Given       []byte         // JSON: the state to render in, in the result's shape; nil = none
	Golden      string         // absolute: a folder, or the file of the one prompt; "" = nothing is compared
	GoldenOnce  string         // absolute: the folder that goldens of such a case had before they had one of their own; "" = it is the same
	Run         *CaseRun       // nil = the case runs nothing
	Inject      []Inject
	Checks      []Check // expect and trajectory are checks of types expr and trajectory
	Redact      []Redact
}

// CaseRun says who answers in place of the world.
type CaseRun struct {
	Cassette string            // absolute, and need not exist yet; "" = none
	Replies  any               // Config of the catalogue's provider "scripted", for every llm; nil = the spec's own
	Answers  map[string]string // to questions, by path or kind, "*" = any other
	Tools    map[string][]ToolAnswer
	Files    []string // shown to the agent
	MemoryID string
	Position Position
}

// ToolAnswer is what a tool gives in place of being called: the calls of a tool
// take its answers in turn, the last one for all that follow.
type ToolAnswer struct {
	Result any    // text, or any JSON value
	Error  string // not "": the call fails
}

// Inject is a fault put in the way of one call.
type Inject struct {
	Tool     string // name, or
	Role     string
	Call     int // number of the call, from 1, among those of that tool or role in the run; 0 = every one
	Error    InjectedError
	Position Position
}

// InjectedError is a kind of fault.
type InjectedError string

// The injected errors. A tool takes InjectTimeout, Inject429, Inject500 and
// InjectBadJSON.
const (
	InjectTimeout   InjectedError = "timeout"   // no answer in time
	Inject429       InjectedError = "429"       // rate limited, after the retries
	Inject500       InjectedError = "500"       // the server failed, after the retries
	InjectBadJSON   InjectedError = "bad_json"  // a reply that does not parse
	InjectTruncated InjectedError = "truncated" // a reply cut at half by max_tokens
	InjectRefusal   InjectedError = "refusal"   // the model declines
)

// Redact is something that is not the same on every run: what it matches is
// shown as <Name:1>, <Name:2>, ...: the same text by the same number.
type Redact struct {
	Name    string // "id"
	Pattern string // a regular expression, checked; the first group, if it has one, is the text; or
	Path    string // JSON pointer into trajectory.json, * = any
}
