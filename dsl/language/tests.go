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
	Metadata   *Metadata      `yaml:"metadata" doc:"The name and description of the file."`
	Spec       string         `yaml:"spec" doc:"The spec under test. Default: spec.yaml next to the file, otherwise in the directory above."`
	Set        *syntax.Node   `yaml:"set" takes:"mapping, or list of strings" doc:"Overrides of the spec for all cases: a mapping of PATH: VALUE, or a list of PATH=VALUE."`
	Parameters *syntax.Node   `yaml:"parameters" doc:"Parameters of all cases. The parameters of a case override them."`
	Tests      []*syntax.Node `yaml:"tests" required:"true" min:"1" doc:"The list of test cases."`
}

// CaseFileKeys are the keys that only a case in its own file has.
type CaseFileKeys struct {
	APIVersion string `yaml:"apiVersion" enum:"pex/v1" doc:"The version of the language. Optional in a case.yaml."`
	Kind       string `yaml:"kind" enum:"Tests" doc:"Tests. Optional in a case.yaml."`
	Spec       string `yaml:"spec" doc:"The spec under test. Default: the nearest spec.yaml in a directory above."`
}

// CaseKeys is one case.
type CaseKeys struct {
	Name        string         `yaml:"name" doc:"The name of the case. Default in a case.yaml: the name of the directory."`
	Description string         `yaml:"description" doc:"The purpose."`
	Set         *syntax.Node   `yaml:"set" takes:"mapping, or list of strings" doc:"Overrides of the spec: a mapping of PATH: VALUE, or a list of PATH=VALUE."`
	Parameters  *syntax.Node   `yaml:"parameters" doc:"The parameters of the run, by name."`
	Render      *syntax.Node   `yaml:"render" takes:"string, or list of strings" doc:"The nodes whose prompts are compared with golden files: a name, a list of names, or all."`
	Given       *syntax.Node   `yaml:"given" doc:"The state in which prompts are rendered, with the keys of a run result, all optional; or {file: PATH}."`
	Golden      string         `yaml:"golden" doc:"The directory of the golden files. Default: golden in the directory of the case, otherwise tests/<case>/golden (for an agent inside a file: tests/<agent>.<case>/golden) if prompts are rendered. If only one node is rendered, this can be the .md file of its prompt."`
	Run         *RunKeys       `yaml:"run" doc:"Runs the agent offline. With {}, the LLMs of the spec are used and must be scripted or replayed from cassettes."`
	Inject      []InjectKeys   `yaml:"inject" doc:"Faults to inject into calls."`
	Expect      []*syntax.Node `yaml:"expect" takes:"list of expression" doc:"Expressions over output, trace and parameters that must be true."`
	Trajectory  *syntax.Node   `yaml:"trajectory" doc:"The expected tool calls, with the keys of the check trajectory."`
	Checks      []*syntax.Node `yaml:"checks" takes:"list of expression or mapping" doc:"More checks, as in a suite. A string is an expression."`
	Redact      []RedactKeys   `yaml:"redact" doc:"Values that differ between runs and are replaced by <name:1>."`
}

// RunKeys defines the simulated models, tools and answers of a case.
type RunKeys struct {
	Cassette  string            `yaml:"cassette" doc:"A recording that replaces models and tools. Default: cassette.jsonl in the directory of the case, if it exists."`
	Replies   *syntax.Node      `yaml:"replies" takes:"list of mapping" doc:"Scripted replies for every LLM, as in the provider scripted; or {file: PATH}."`
	Answers   map[string]string `yaml:"answers" doc:"Answers to questions, by path or kind. * matches any other."`
	AnswersBy *AnswersBy        `yaml:"answers_by" doc:"Who gives the answers, for questions with approvers or four_eyes. The subject tester of the issuer test starts the run."`
	Tools     *syntax.Node      `yaml:"tools" doc:"Mocked tool results, by tool: a value, or a list of {result: VALUE} and {error: TEXT} that are used in turn. The last one repeats."`
	Files     []string          `yaml:"files" doc:"Files for the agent."`
	MemoryID  string            `yaml:"memory_id" doc:"The conversation that the run belongs to."`
}

// SetDefaults sets no defaults: a run without keys is valid.
func (*RunKeys) SetDefaults() {}

// AnswersBy is the section run.answers_by of a case.
type AnswersBy struct {
	Subject string   `yaml:"subject" required:"true" doc:"The subject, by.subject in approvers."`
	Issuer  string   `yaml:"issuer" doc:"The issuer, by.issuer in approvers. Default: test."`
	Roles   []string `yaml:"roles" doc:"The roles, by.roles in approvers."`
	Tenant  string   `yaml:"tenant" doc:"The tenant, by.tenant in approvers."`
}

// InjectKeys is an entry of inject.
type InjectKeys struct {
	Tool  string `yaml:"tool" doc:"The tool whose call fails; or"`
	Role  string `yaml:"role" enum:"planner|executor|reflector|finalizer|judge|summarizer" doc:"The role whose model call fails."`
	Call  int    `yaml:"call" min:"1" doc:"The number of the call, from 1, among the calls of that tool or role in the run. Default: every call."`
	Error string `yaml:"error" required:"true" enum:"timeout|429|500|bad_json|truncated|refusal" doc:"The fault. Tools support the first four."`
}

// RedactKeys is an entry of redact.
type RedactKeys struct {
	Name    string `yaml:"name" required:"true" doc:"The name in the replacement: <name:1>."`
	Pattern string `yaml:"pattern" doc:"A regular expression (RE2). Its first group, if it has one, is replaced, otherwise the whole match; or"`
	Path    string `yaml:"path" doc:"A JSON pointer into trajectory.json. * matches any key or index."`
}

// CheckKeys are the keys common to all checks.
type CheckKeys struct {
	Type   string  `yaml:"type" required:"true" doc:"The type of the check."`
	Name   string  `yaml:"name" doc:"The name in reports. Default: the type, with a number if it is used twice."`
	Weight float64 `yaml:"weight" min:"0" doc:"The weight in the score. With 0, the check is only reported."`
	Not    bool    `yaml:"not" doc:"Inverts the check."`
}

// DefaultCheck returns a check with the defaults.
func DefaultCheck() CheckKeys { return CheckKeys{Weight: 1} }

// TestSections are the sections of tests to search for misplaced keys.
var TestSections = sync.OnceValue(func() []Section {
	return []Section{
		{"a case's run", config.KeysOf(RunKeys{})},
		{"a case", config.KeysOf(CaseKeys{})},
		{"an entry of checks", config.KeysOf(CheckKeys{})},
	}
})

// ReplyConfig returns the Config of the provider that plays the replies of a
// case: the provider of the catalog that works offline and has a key replies.
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
