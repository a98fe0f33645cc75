package language

import (
	"sync"
	"time"

	"github.com/pexctl/pex/dsl/config"
	"github.com/pexctl/pex/dsl/syntax"
	"github.com/pexctl/pex/engine/component"
)

// SuiteKeys is a file of kind: Suite.
type SuiteKeys struct {
	APIVersion  string           `yaml:"apiVersion" required:"true" enum:"pex/v1" doc:"The version of the language."`
	Kind        string           `yaml:"kind" required:"true" enum:"Suite" doc:"Suite."`
	Metadata    Metadata         `yaml:"metadata" doc:"The name and description of the suite."`
	Spec        string           `yaml:"spec" doc:"The spec to evaluate. Default: spec.yaml next to the file, otherwise in the directory above."`
	Specs       []string         `yaml:"specs" min:"1" max:"100" doc:"Several specs instead of spec. Each is a variant with the name of its agent."`
	LLMs        *syntax.Node     `yaml:"llms" doc:"LLMs for judge and embed, by name. Other names are looked up in the first spec."`
	Dataset     *syntax.Node     `yaml:"dataset" takes:"string or mapping" required:"true" doc:"The cases: a path or a mapping."`
	Variants    *syntax.Node     `yaml:"variants" doc:"Configurations to run the cases with, by name. Default: one without a name."`
	Repeat      int              `yaml:"repeat" min:"1" max:"10000" doc:"Trials per case and variant."`
	Concurrency int              `yaml:"concurrency" min:"1" max:"10000" doc:"The number of concurrent trials. Default: 4."`
	Checks      []*syntax.Node   `yaml:"checks" takes:"list of expression or mapping" required:"true" min:"1" doc:"The checks for every answer. A string is an expression. ${case.x} is a value of the case's row."`
	Judge       *syntax.Node     `yaml:"judge" doc:"The model that grades answers for checks with a judge."`
	Embed       *syntax.Node     `yaml:"embed" doc:"The embedding model for checks that compare embeddings."`
	Gates       []*syntax.Node   `yaml:"gates" takes:"list of expression or mapping" doc:"Conditions for the whole evaluation: expressions over stats and baseline, or mappings. Default: no trial fails."`
	Baseline    *syntax.Node     `yaml:"baseline" takes:"string or mapping" doc:"The result to compare with: a file, git:REF, git:REF:PATH, run:ID or a mapping."`
	MaxErrors   *syntax.Node     `yaml:"max_errors" takes:"integer or string" doc:"The maximum number of trials that end with an error before the evaluation stops: a number or a percentage such as 2%."`
	Limits      SuiteLimits      `yaml:"limits" doc:"The limits of the whole evaluation."`
	Quarantine  []QuarantineKeys `yaml:"quarantine" doc:"Cases that temporarily do not count. They run and are listed separately, but gates, comparisons and stats ignore them, except for the totals of cost, latency and tokens."`
}

// DefaultSuite returns a suite with the defaults.
func DefaultSuite() SuiteKeys { return SuiteKeys{Repeat: 1} }

// VariantKeys is an entry of variants.
type VariantKeys struct {
	Spec string       `yaml:"spec" doc:"Another spec."`
	Set  *syntax.Node `yaml:"set" takes:"mapping, or list of strings" doc:"Overrides of the spec: a mapping of PATH: VALUE, or a list of PATH=VALUE."`
}

// SetDefaults sets no defaults: a variant without keys is valid.
func (*VariantKeys) SetDefaults() {}

// DatasetKeys is the section dataset.
type DatasetKeys struct {
	File       string                     `yaml:"file" doc:"A file of cases in JSON Lines, CSV or YAML; or"`
	Format     string                     `yaml:"format" enum:"jsonl|csv|yaml" doc:"The format of the file, if its extension does not tell."`
	ID         string                     `yaml:"id" doc:"The column with the id of a case. Default: id if it exists, otherwise a hash of the row."`
	Group      string                     `yaml:"group" doc:"The column with the cluster of a case. Default: group if it exists."`
	Weight     string                     `yaml:"weight" doc:"The column with the weight of a case. Default: weight if it exists."`
	Tags       string                     `yaml:"tags" doc:"The column with the tags of a case, as a list or separated by commas. Default: tags if it exists."`
	Parameters map[string]component.Value `yaml:"parameters" vars:"case" doc:"The parameters of the run, by name. Default: the columns with the names of declared parameters."`
	Rows       []*syntax.Node             `yaml:"rows" min:"1" doc:"The cases, each a mapping of columns."`
}

// JudgeKeys is the section judge.
type JudgeKeys struct {
	LLM    component.ModelRef  `yaml:"llm" doc:"The name of the LLM. LLM keys next to it override its own. Default: the suite's only LLM."`
	Rubric component.PromptRef `yaml:"rubric" vars:"case,parameters" doc:"The rubric for checks that have none."`
}

// EmbedKeys is the section embed.
type EmbedKeys struct {
	LLM component.ModelRef `yaml:"llm" doc:"The name of the LLM. LLM keys next to it override its own. Default: the suite's only LLM."`
}

// GateKeys is an entry of gates.
type GateKeys struct {
	Name string             `yaml:"name" doc:"The name in reports. Default: the expression."`
	Expr component.GuardRef `yaml:"expr" env:"@gates" doc:"The condition for the whole evaluation, over stats and baseline; or"`
	Each component.GuardRef `yaml:"each" env:"@gates_each" doc:"The condition for each case of each variant, over case, stats and baseline."`
}

// BaselineKeys is the section baseline.
type BaselineKeys struct {
	Ref            string  `yaml:"ref" doc:"A file, git:REF, git:REF:PATH or run:ID. The path for git:REF is the suite's baseline file."`
	Margin         float64 `yaml:"margin" min:"0" max:"1" doc:"The non-inferiority margin: the acceptable drop in the pass rate."`
	OnInconclusive string  `yaml:"on_inconclusive" enum:"pass|fail" doc:"The result if there are too few trials to decide. Default: exit code 4."`
}

// DefaultBaseline returns a baseline with the defaults.
func DefaultBaseline() BaselineKeys { return BaselineKeys{Margin: 0.02} }

// SuiteLimits is the section limits of a suite.
type SuiteLimits struct {
	MaxCost      float64       `yaml:"max_cost" over:"0" doc:"The maximum cost in US dollars, including judges. The price of every LLM must be known."`
	MaxTokens    int           `yaml:"max_tokens" min:"1" doc:"The maximum number of tokens of all model calls, input and output."`
	MaxDuration  time.Duration `yaml:"max_duration" over:"0s" doc:"The maximum total time."`
	TrialTimeout time.Duration `yaml:"trial_timeout" over:"0s" doc:"The maximum time of one trial. A trial that takes longer ends with an error."`
}

// QuarantineKeys is an entry of quarantine.
type QuarantineKeys struct {
	Case   string `yaml:"case" required:"true" doc:"The id of a case, or a pattern with *."`
	Owner  string `yaml:"owner" required:"true" doc:"The person or team that fixes it."`
	Until  string `yaml:"until" required:"true" doc:"The last date, such as 2026-12-31. After it, the quarantine is reported as a failure."`
	Reason string `yaml:"reason" doc:"Why."`
}

// SuiteSections are the sections of a suite to search for misplaced keys.
var SuiteSections = sync.OnceValue(func() []Section {
	return []Section{
		{"limits", config.KeysOf(SuiteLimits{})},
		{"dataset", config.KeysOf(DatasetKeys{})},
		{"judge", config.KeysOf(JudgeKeys{})},
		{"baseline", config.KeysOf(BaselineKeys{})},
		{"an entry of llms", llmKeys},
		{"metadata", config.KeysOf(Metadata{})},
		{"an entry of checks", config.KeysOf(CheckKeys{})},
		{"the suite itself", config.KeysOf(SuiteKeys{})},
	}
})
