package language

import (
	"reflect"
	"slices"
	"sync"

	"github.com/pexctl/pex/dsl/config"
	"github.com/pexctl/pex/dsl/syntax"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/model"
)

// TestsKeys is a file of kind: Tests.
type TestsKeys struct {
	APIVersion string         `yaml:"apiVersion" required:"true" enum:"pex/v1" doc:"The version of the language."`
	Kind       string         `yaml:"kind" required:"true" enum:"Tests" doc:"Tests."`
	Metadata   *Metadata      `yaml:"metadata" doc:"What the file is called."`
	Spec       string         `yaml:"spec" doc:"The spec under test; by default spec.yaml beside the file, else in the folder above."`
	Set        *syntax.Node   `yaml:"set" takes:"mapping, or list of text" doc:"Overrides of the spec for all cases: path: value, or a list of path=value."`
	Parameters *syntax.Node   `yaml:"parameters" doc:"Parameters of all cases; a case's own go over them."`
	Tests      []*syntax.Node `yaml:"tests" required:"true" min:"1" doc:"The cases."`
}

// CaseFileKeys are the keys that a case has only where it is a file of its own.
type CaseFileKeys struct {
	APIVersion string `yaml:"apiVersion" enum:"pex/v1" doc:"The version of the language; a case.yaml may leave it out."`
	Kind       string `yaml:"kind" enum:"Tests" doc:"Tests; a case.yaml may leave it out."`
	Spec       string `yaml:"spec" doc:"The spec under test; by default the nearest spec.yaml in a folder above."`
}

// CaseKeys is one case.
type CaseKeys struct {
	Name        string         `yaml:"name" doc:"What the case is called; in a case.yaml the folder's name by default."`
	Description string         `yaml:"description" doc:"What it is for."`
	Set         *syntax.Node   `yaml:"set" takes:"mapping, or list of text" doc:"Overrides of the spec: path: value, or a list of path=value."`
	Parameters  *syntax.Node   `yaml:"parameters" doc:"The parameters of the run, by name."`
	Render      *syntax.Node   `yaml:"render" takes:"text, or list of text" doc:"The nodes whose prompts are compared with golden files: a name, a list, or all."`
	Given       *syntax.Node   `yaml:"given" doc:"The state to render in, in the shape of a result, all optional; or {file: path}."`
	Golden      string         `yaml:"golden" doc:"The folder of the golden files; golden in a case's folder, else tests/<case>/golden (of an agent of a file: tests/<agent>.<case>/golden) where something is rendered, by default. The .md file of the one prompt, where one node is rendered."`
	Run         *RunKeys       `yaml:"run" doc:"Runs the agent offline; {} with the llms of the spec, which are then scripted or played from cassettes."`
	Inject      []InjectKeys   `yaml:"inject" doc:"Faults put in the way of calls."`
	Expect      []*syntax.Node `yaml:"expect" takes:"list of expression" doc:"Expressions over output, trace and parameters that must hold."`
	Trajectory  *syntax.Node   `yaml:"trajectory" doc:"The tool calls that are expected: the keys of the check trajectory."`
	Checks      []*syntax.Node `yaml:"checks" takes:"list of expression or mapping" doc:"Further checks, as in a suite; text is an expression."`
	Redact      []RedactKeys   `yaml:"redact" doc:"What is not the same on every run, and is shown as <name:1>."`
}

// RunKeys says who answers in place of the world.
type RunKeys struct {
	Cassette string            `yaml:"cassette" doc:"A recording that answers for models and tools; cassette.jsonl of a case's folder by default, if there is one."`
	Replies  *syntax.Node      `yaml:"replies" takes:"list of mapping" doc:"Scripted replies for every llm, as of the provider scripted; or {file: path}."`
	Answers  map[string]string `yaml:"answers" doc:"Answers to questions, by their path or kind; * is any other."`
	Tools    *syntax.Node      `yaml:"tools" doc:"What tools give without being called, by name: a value, or a list of {result: value} and {error: text} taken in turn; the last one repeats."`
	Files    []string          `yaml:"files" doc:"Files shown to the agent."`
	MemoryID string            `yaml:"memory_id" doc:"The conversation that the run belongs to."`
}

// SetDefaults sets none: a run that is written without keys is one.
func (*RunKeys) SetDefaults() {}

// InjectKeys is one of inject.
type InjectKeys struct {
	Tool  string `yaml:"tool" doc:"The tool whose call fails; or"`
	Role  string `yaml:"role" enum:"planner|executor|reflector|finalizer|judge|summarizer" doc:"The role whose model call fails."`
	Call  int    `yaml:"call" min:"1" doc:"The number of the call, from 1, among those of that tool or role in the run; every one by default."`
	Error string `yaml:"error" required:"true" enum:"timeout|429|500|bad_json|truncated|refusal" doc:"What happens to it. A tool takes the first four."`
}

// RedactKeys is one of redact.
type RedactKeys struct {
	Name    string `yaml:"name" required:"true" doc:"What stands in place of it: <name:1>."`
	Pattern string `yaml:"pattern" doc:"A regular expression (RE2); its first group, if it has one, is the text; or"`
	Path    string `yaml:"path" doc:"A JSON pointer into trajectory.json; * is any key or index."`
}

// CheckKeys are the keys that all checks have.
type CheckKeys struct {
	Type   string  `yaml:"type" required:"true" doc:"What kind of check it is."`
	Name   string  `yaml:"name" doc:"What reports call it; the type by default, numbered where it stands twice."`
	Weight float64 `yaml:"weight" min:"0" doc:"Its share in the score; 0 = it is only watched."`
	Not    bool    `yaml:"not" doc:"The check passes when it would fail."`
}

// DefaultCheck is a check with the defaults.
func DefaultCheck() CheckKeys { return CheckKeys{Weight: 1} }

// TestSections are where keys of tests belong that people write elsewhere.
var TestSections = sync.OnceValue(func() []Section {
	return []Section{
		{"a case's run", config.KeysOf(RunKeys{})},
		{"a case", config.KeysOf(CaseKeys{})},
		{"an entry of checks", config.KeysOf(CheckKeys{})},
	}
})

// ReplyConfig is the Config of the provider that plays the replies of a case: the
// one of the catalog that answers offline and takes a key replies.
func ReplyConfig(catalog *engine.Catalog) (settings any, ok bool) {
	for _, f := range catalog.Models {
		settings := f.Config()
		if _, offline := settings.(model.Offline); !offline {
			continue
		}
		fields, _ := config.Fields([]reflect.Value{config.Struct(settings)})
		if slices.Contains(config.FieldKeys(fields), "replies") {
			return settings, true
		}
	}
	return nil, false
}
