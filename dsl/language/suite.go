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
	Metadata    Metadata         `yaml:"metadata" doc:"What the suite is called."`
	Spec        string           `yaml:"spec" doc:"The spec that is evaluated; by default spec.yaml beside the file, else in the folder above."`
	Specs       []string         `yaml:"specs" min:"1" max:"100" doc:"Instead of spec: several, each a variant that has the name of its agent."`
	LLMs        *syntax.Node     `yaml:"llms" doc:"Language models of judge and embed, by name; names that are not here are looked up in the first spec."`
	Dataset     *syntax.Node     `yaml:"dataset" takes:"text, or mapping" required:"true" doc:"The cases: a file, or a mapping."`
	Variants    *syntax.Node     `yaml:"variants" doc:"Ways to run the cases, by name; one without a name by default."`
	Repeat      int              `yaml:"repeat" min:"1" max:"10000" doc:"Trials of each case under each variant."`
	Concurrency int              `yaml:"concurrency" min:"1" max:"10000" doc:"Trials at the same time; 4 by default."`
	Checks      []*syntax.Node   `yaml:"checks" takes:"list of expression or mapping" required:"true" min:"1" doc:"What every answer is held against; text is an expression. ${case.x} is a value of the case's row."`
	Judge       *syntax.Node     `yaml:"judge" doc:"The model that grades for checks which ask one."`
	Embed       *syntax.Node     `yaml:"embed" doc:"The model that makes vectors of texts for checks which compare them."`
	Gates       []*syntax.Node   `yaml:"gates" takes:"list of expression or mapping" doc:"Conditions that the whole must meet: expressions over stats and baseline, or mappings. None: no trial fails."`
	Baseline    *syntax.Node     `yaml:"baseline" takes:"text, or mapping" doc:"What the result is held against: a file, git:REF, git:REF:PATH or run:ID, or a mapping."`
	MaxErrors   *syntax.Node     `yaml:"max_errors" takes:"integer, or text" doc:"Trials that may end in an error before the evaluation is stopped: a number, or a share such as 2%."`
	Limits      SuiteLimits      `yaml:"limits" doc:"What the evaluation may take in all."`
	Quarantine  []QuarantineKeys `yaml:"quarantine" doc:"Cases that count nowhere for a while: they run and are listed apart, but are in no gate, in none of stats (but what was spent: the totals of cost, latency and tokens) and in no comparison."`
}

// DefaultSuite is a suite with the defaults.
func DefaultSuite() SuiteKeys { return SuiteKeys{Repeat: 1} }

// VariantKeys is one of variants.
type VariantKeys struct {
	Spec string       `yaml:"spec" doc:"Another spec."`
	Set  *syntax.Node `yaml:"set" takes:"mapping, or list of text" doc:"Overrides of the spec: path: value, or a list of path=value."`
}

// SetDefaults sets none: a variant that is written without keys is one.
func (*VariantKeys) SetDefaults() {}

// DatasetKeys is the section dataset.
type DatasetKeys struct {
	File       string                     `yaml:"file" doc:"A file of cases: JSON Lines, CSV or YAML; or"`
	Format     string                     `yaml:"format" enum:"jsonl|csv|yaml" doc:"What the file is, where its ending does not say."`
	ID         string                     `yaml:"id" doc:"The column that names a case; id by default if there is one, else a hash of the row."`
	Group      string                     `yaml:"group" doc:"The column of the cluster that a case belongs to; group by default if there is one."`
	Weight     string                     `yaml:"weight" doc:"The column of its weight; weight by default if there is one."`
	Tags       string                     `yaml:"tags" doc:"The column of its tags, a list or words divided by commas; tags by default if there is one."`
	Parameters map[string]component.Value `yaml:"parameters" vars:"case" doc:"The parameters of the run, by name; by default the columns that are called as declared parameters."`
	Rows       []*syntax.Node             `yaml:"rows" min:"1" doc:"The cases themselves, each a mapping of columns."`
}

// JudgeKeys is the section judge.
type JudgeKeys struct {
	LLM    component.ModelRef  `yaml:"llm" doc:"The model, by name; llm keys beside it go over its own. The suite's only one by default."`
	Rubric component.PromptRef `yaml:"rubric" vars:"case,parameters" doc:"By what it judges, where a check does not say."`
}

// EmbedKeys is the section embed.
type EmbedKeys struct {
	LLM component.ModelRef `yaml:"llm" doc:"The model, by name; llm keys beside it go over its own. The suite's only one by default."`
}

// GateKeys is one of gates.
type GateKeys struct {
	Name string             `yaml:"name" doc:"What reports call it; the expression by default."`
	Expr component.GuardRef `yaml:"expr" env:"@gates" doc:"The condition on the whole, over stats and baseline; or"`
	Each component.GuardRef `yaml:"each" env:"@gates_each" doc:"The condition on each case of each variant, over case, stats and baseline."`
}

// BaselineKeys is the section baseline.
type BaselineKeys struct {
	Ref            string  `yaml:"ref" doc:"A file, git:REF, git:REF:PATH or run:ID; the path of git:REF is the suite's baseline file."`
	Margin         float64 `yaml:"margin" min:"0" max:"1" doc:"A drop of the pass rate that does no harm."`
	OnInconclusive string  `yaml:"on_inconclusive" enum:"pass|fail" doc:"What it counts for when there are too few trials to tell; exit code 4 by default."`
}

// DefaultBaseline is a baseline with the defaults.
func DefaultBaseline() BaselineKeys { return BaselineKeys{Margin: 0.02} }

// SuiteLimits is the section limits of a suite.
type SuiteLimits struct {
	MaxCost      float64       `yaml:"max_cost" over:"0" doc:"US dollars in all, judges included; the price of every llm must then be known."`
	MaxTokens    int           `yaml:"max_tokens" min:"1" doc:"Tokens of all model calls, in and out."`
	MaxDuration  time.Duration `yaml:"max_duration" over:"0s" doc:"Time in all."`
	TrialTimeout time.Duration `yaml:"trial_timeout" over:"0s" doc:"Time of one trial; what takes longer is an error."`
}

// QuarantineKeys is one of quarantine.
type QuarantineKeys struct {
	Case   string `yaml:"case" required:"true" doc:"The id of a case, or a pattern with *."`
	Owner  string `yaml:"owner" required:"true" doc:"Who mends it."`
	Until  string `yaml:"until" required:"true" doc:"The last day, 2026-12-31; afterwards it is a failure."`
	Reason string `yaml:"reason" doc:"Why."`
}

// SuiteSections are where keys of a suite belong that people write elsewhere.
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
