package language

import (
	"slices"
	"time"

	"github.com/pexctl/pex/dsl/config"
	"github.com/pexctl/pex/dsl/syntax"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/model"
)

// Version is the version of the language.
const Version = "pex/v1"

// Spec is a whole spec. Sections of named entries, and those that a
// component's Config decodes, are kept as values.
type Spec struct {
	APIVersion     string       `yaml:"apiVersion" required:"true" enum:"pex/v1" doc:"The version of the language."`
	Kind           string       `yaml:"kind" required:"true" doc:"What the file is: Agent, Library for shared llms, tools and prompts, Tests, Suite, or Prices."`
	Metadata       Metadata     `yaml:"metadata" doc:"What the agent is called."`
	Extends        *syntax.Node `yaml:"extends" doc:"A spec that this one is laid over: a file, or {spec: file, without: [names]}."`
	Include        []string     `yaml:"include" doc:"Files of kind Library whose llms, tools and prompts are merged by name."`
	Parameters     *syntax.Node `yaml:"parameters" doc:"Typed inputs. Each is a JSON Schema property with required and default beside it; question is always there."`
	InjectDatetime bool         `yaml:"inject_datetime" doc:"Puts the start time of the run, in UTC, into the system prompts of planner and executor."`
	DatetimeFormat string       `yaml:"datetime_format" doc:"How that time is written, in strftime directives."`
	LLMs           *syntax.Node `yaml:"llms" doc:"The language models, by name. Text, tool calls and JSON go in and out; images, sound and files do not."`
	Tools          *syntax.Node `yaml:"tools" doc:"The tools, by name. A builtin needs no type: clock: {}."`
	Prompts        *syntax.Node `yaml:"prompts" doc:"Named texts, for {use: name} wherever a prompt is expected, and for ${prompts.name} within one."`
	Agents         *syntax.Node `yaml:"agents" doc:"Further agents in this file, by name; #name calls one. Each has the llms and prompts of the file, and of its tools those that its executor.tools or nodes name."`
	Planner        *syntax.Node `yaml:"planner" doc:"The role that makes the plan."`
	Executor       *syntax.Node `yaml:"executor" doc:"The role that carries out its steps."`
	Reflector      *syntax.Node `yaml:"reflector" doc:"The role that looks at what the steps gave."`
	Finalizer      *syntax.Node `yaml:"finalizer" doc:"The role that writes the answer when the planner did not."`
	Limits         Limits       `yaml:"limits" doc:"What a run may take at most; what is not there is not limited."`
	Guards         *syntax.Node `yaml:"guards" doc:"Rules tried at places of a run; the first that holds decides."`
	Output         *Output      `yaml:"output" doc:"What a final answer must be; free text by default."`
	Memory         Memory       `yaml:"memory" doc:"Where conversations are kept, and how safely runs are."`
	Graph          *syntax.Node `yaml:"graph" doc:"Nodes and guarded edges written out, instead of those of reflector.strategy."`
	Tests          *syntax.Node `yaml:"tests" doc:"Cases for pexctl test; they do not change what the agent does."`
	Evals          *syntax.Node `yaml:"evals" doc:"Paths of suites for pexctl eval."`
}

// Metadata is the section metadata.
type Metadata struct {
	Name        string            `yaml:"name" required:"true" doc:"The agent's name."`
	Version     string            `yaml:"version" doc:"Its version, any text."`
	Description string            `yaml:"description" doc:"What it is for, in a sentence."`
	Labels      map[string]string `yaml:"labels" doc:"Whatever helps to find it."`
}

// Limits is the section limits.
type Limits struct {
	MaxSteps                    int           `yaml:"max_steps" min:"1" doc:"Steps executed in all."`
	ExecutorMaxIterations       int           `yaml:"executor_max_iterations" min:"1" doc:"Model calls of one step."`
	MessageHistoryLimit         int           `yaml:"message_history_limit" min:"0" doc:"Earlier turns of a conversation that the planner sees."`
	ExecutorMessageHistoryLimit int           `yaml:"executor_message_history_limit" min:"0" doc:"Message pairs that the executor keeps between steps."`
	MaxReplans                  int           `yaml:"max_replans" min:"0" doc:"Plans that replace a plan; with 0 the first one is the only one."`
	MaxToolCalls                int           `yaml:"max_tool_calls" min:"1" doc:"Tool calls in all."`
	MaxConsecutiveToolCalls     int           `yaml:"max_consecutive_tool_calls" min:"1" doc:"Calls of the same tool with the same arguments in a row."`
	MaxTokens                   int           `yaml:"max_tokens" min:"1" doc:"Tokens of all model calls, in and out."`
	MaxCost                     float64       `yaml:"max_cost" over:"0" doc:"US dollars; the price of every llm must then be known."`
	MaxDuration                 time.Duration `yaml:"max_duration" over:"0s" doc:"Active time of the run, the final answer included: a tenth of it, at most 30s, is kept for the finalizer. Only a write in flight is waited for beyond it."`
}

// The defaults that OpenSearch's agent has, by the same names, and one of ours.
func defaultLimits() Limits {
	return Limits{
		MaxSteps: 20, ExecutorMaxIterations: 20, MessageHistoryLimit: 10,
		ExecutorMessageHistoryLimit: 10, MaxReplans: 10, MaxConsecutiveToolCalls: 5,
	}
}

// LLM is one entry of llms, and what a role may override.
type LLM struct {
	Provider        string              `yaml:"provider" required:"true" doc:"Who serves the model."`
	Model           string              `yaml:"model" doc:"The provider's name of the model."`
	BaseURL         component.Template  `yaml:"base_url" vars:"env,parameters" doc:"Where the provider is, when it is not where it usually is."`
	APIKeyEnv       string              `yaml:"api_key_env" doc:"The environment variable that holds the key; each provider has one of its own by default, such as OPENAI_API_KEY."`
	Temperature     *float64            `yaml:"temperature" min:"0" max:"2" doc:"How freely the model chooses; the provider's default when unset."`
	TopP            *float64            `yaml:"top_p" min:"0" max:"1" doc:"The share of likely tokens it chooses from."`
	Seed            *int64              `yaml:"seed" doc:"Makes sampling repeatable where the provider can."`
	MaxOutputTokens int                 `yaml:"max_output_tokens" min:"1" doc:"Tokens of one reply at most."`
	Stop            []string            `yaml:"stop" doc:"Texts that end a reply."`
	SystemPrompt    component.PromptRef `yaml:"system_prompt" vars:"parameters,@system" doc:"The system prompt of roles that have none of their own."`
	Timeout         time.Duration       `yaml:"timeout" over:"0s" doc:"How long one call may take."`
	Retry           Retry               `yaml:"retry" doc:"How failed calls are repeated. A run repeats at most 10 and a tenth of its calls; a server that has failed 5 times in a row is left alone for a second, or as long as it asks, and then tried by one call; each failure doubles the time, up to 30 seconds."`
	RateLimit       RateLimit           `yaml:"rate_limit" doc:"What this process asks of the llm at most."`
	Fallback        []string            `yaml:"fallback" doc:"Other llms, tried in order when this one fails, and at once while its server is left alone."`
	Cost            *Cost               `yaml:"cost" doc:"Prices in USD per million tokens; those of well-known models are known without."`
	Options         *syntax.Node        `yaml:"options" doc:"What this provider alone has."`
}

// Retry is how failed calls of an llm or a tool are repeated.
type Retry struct {
	MaxAttempts  int           `yaml:"max_attempts" min:"1" max:"20" doc:"Calls in all."`
	InitialDelay time.Duration `yaml:"initial_delay" min:"0s" doc:"The wait before the second call; it doubles from there."`
	MaxDelay     time.Duration `yaml:"max_delay" min:"0s" doc:"The longest wait. An llm whose server asks for a longer one (Retry-After) is not asked again: the call fails, or goes to its fallback."`
	Jitter       bool          `yaml:"jitter" doc:"A random wait between nothing and the computed one."`
}

// RateLimit is the section rate_limit of an llm.
type RateLimit struct {
	RequestsPerMinute int `yaml:"requests_per_minute" min:"1" doc:"Calls begun in a minute."`
	TokensPerMinute   int `yaml:"tokens_per_minute" min:"1" doc:"Tokens in a minute."`
	MaxConcurrent     int `yaml:"max_concurrent" min:"1" doc:"Calls at the same time."`
}

// Cost is the section cost of an llm.
type Cost struct {
	Input       float64 `yaml:"input" required:"true" min:"0" doc:"USD per million input tokens."`
	Output      float64 `yaml:"output" required:"true" min:"0" doc:"USD per million output tokens."`
	CachedInput float64 `yaml:"cached_input" min:"0" doc:"USD per million input tokens from the cache; the input price by default."`
	CacheWrite  float64 `yaml:"cache_write" min:"0" doc:"USD per million input tokens that go into the cache; the input price by default."`

	Above *CostAbove `yaml:"above" doc:"Prices of a whole request whose input is longer."`
}

// CostAbove is the section above of a cost.
type CostAbove struct {
	Tokens      int     `yaml:"tokens" required:"true" min:"1" doc:"Input tokens beyond which they hold."`
	Input       float64 `yaml:"input" required:"true" min:"0" doc:"USD per million input tokens."`
	Output      float64 `yaml:"output" required:"true" min:"0" doc:"USD per million output tokens."`
	CachedInput float64 `yaml:"cached_input" min:"0" doc:"USD per million input tokens from the cache; the input price by default."`
	CacheWrite  float64 `yaml:"cache_write" min:"0" doc:"USD per million input tokens that go into the cache; the input price by default."`
}

// Price is the cost as runs account it.
func (c *Cost) Price() *model.Cost {
	out := &model.Cost{Input: c.Input, Output: c.Output, CachedInput: c.CachedInput, CacheWrite: c.CacheWrite}
	if c.Above != nil {
		above := model.CostAbove(*c.Above)
		out.Above = &above
	}
	return out
}

// DefaultLLM is an llm with the defaults.
func DefaultLLM() LLM {
	return LLM{Retry: Retry{MaxAttempts: 3, InitialDelay: 500 * time.Millisecond, MaxDelay: 30 * time.Second, Jitter: true}}
}

// Tool is what all types of tools have in common.
type Tool struct {
	Type           string              `yaml:"type" doc:"builtin, http, command, mcp or agent; the name itself when it is a builtin's."`
	Use            string              `yaml:"use" doc:"type builtin: which one, when the tool has another name."`
	Description    string              `yaml:"description" doc:"What the model is told; the tool's own by default."`
	Effect         string              `yaml:"effect" enum:"read|idempotent|write" doc:"What a call does to the world; the tool's own, else write."`
	Approval       component.GuardRef  `yaml:"approval" words:"never|always" env:"@approval" doc:"Whether a person approves each call: never, always, or an expression."`
	OnUnknown      string              `yaml:"on_unknown" enum:"review|continue" doc:"What a run does when a call that writes began and its outcome is unknown (timeout, lost connection, killed process). review: the run waits for a person (exit code 5). continue: the model reads that the call may have taken effect, and the result has a warning. Default: review."`
	Timeout        time.Duration       `yaml:"timeout" over:"0s" doc:"How long a call may take; 60s by default."`
	MaxOutputBytes int                 `yaml:"max_output_bytes" min:"1" doc:"How much of the output the model sees; 65536 by default."`
	MaxConcurrent  int                 `yaml:"max_concurrent" min:"1" doc:"How many calls of it a run makes at once; of a server's tools together. 16 by default."`
	Retry          *Retry              `yaml:"retry" doc:"How failed calls are repeated; never for a tool that writes."`
	With           *syntax.Node        `yaml:"with" doc:"Argument values that a model can never override, and is not told of."`
	OutputFilter   component.FilterRef `yaml:"output_filter" doc:"JSONPath applied to the output."`
	IncludeOutput  bool                `yaml:"include_output_in_agent_response" doc:"The output becomes part of the agent's response."`
}

// GuardRule is one entry of guards. Its expression is compiled for its place.
type GuardRule struct {
	Name    string       `yaml:"name" required:"true" doc:"What events and results call it."`
	At      string       `yaml:"at" required:"true" enum:"after_plan|before_tool|after_tool|after_step|after_reflect" doc:"Where it is tried."`
	When    *syntax.Node `yaml:"when" required:"true" doc:"The condition, an expression."`
	Do      string       `yaml:"do" required:"true" enum:"stop|succeed|fail|replan|interrupt|deny" doc:"What then happens: stop and succeed end the run with an answer, fail without; replan has a new plan made, at a tool in the middle of the step; interrupt asks a person, and before a tool shows the call, which a denial then refuses; deny refuses the call."`
	Message string       `yaml:"message" doc:"What people and models are told; plain text."`
}

// Output is the section output.
type Output struct {
	Schema  component.SchemaRef  `yaml:"schema" doc:"JSON Schema of the answer."`
	Repair  Repair               `yaml:"repair" doc:"What happens when an answer does not fit."`
	Ensures []component.GuardRef `yaml:"ensures" env:"@ensures" doc:"Conditions that an answer must meet."`
}

// Repair is the section output.repair.
type Repair struct {
	MaxAttempts *int `yaml:"max_attempts" min:"0" max:"10" doc:"How often the role that gave it is asked again, with the errors; 2 by default."`
}

// Memory is the section memory.
type Memory struct {
	Backend    string       `yaml:"backend" enum:"badger|none" doc:"Where conversations are kept."`
	Path       string       `yaml:"path" doc:"The store's folder; below the home by default."`
	Durability string       `yaml:"durability" enum:"sync|async|exit" doc:"When a run's journal is safe on disk: at each commit, soon after, or at the end."`
	History    bool         `yaml:"history" doc:"Whether prompts show earlier turns of the same memory id. false: each run begins without them and is still kept."`
	Compaction *syntax.Node `yaml:"compaction" doc:"How long conversations are shortened before they are sent; never by default."`
}

// GraphKeys is the section graph; its nodes are decoded by their types.
type GraphKeys struct {
	Start string         `yaml:"start" doc:"The first node; the first of the list by default."`
	Nodes []*syntax.Node `yaml:"nodes" required:"true" min:"1" doc:"The nodes: id, type and the keys of the type."`
	Edges []EdgeKeys     `yaml:"edges" required:"true" min:"1" doc:"The edges, tried in order."`
}

// EdgeKeys is one of graph.edges.
type EdgeKeys struct {
	From string             `yaml:"from" required:"true" doc:"The node it leaves."`
	To   string             `yaml:"to" required:"true" doc:"The node it leads to, or end."`
	When component.GuardRef `yaml:"when" env:"@edge" doc:"The condition; the last edge of a node has none."`
}

// NodeKeys is what all of graph.nodes have.
type NodeKeys struct {
	ID   string `yaml:"id" required:"true" doc:"The node's name in edges."`
	Type string `yaml:"type" required:"true" doc:"What kind of node it is."`
}

const defaultDatetime = "%Y-%m-%dT%H:%M:%SZ"

// DefaultSpec is a spec with the defaults.
func DefaultSpec() Spec {
	return Spec{
		DatetimeFormat: defaultDatetime,
		Limits:         defaultLimits(),
		Memory:         Memory{Backend: "badger", Durability: "sync", History: true},
	}
}

// ExtendsKeys is the key extends where it says more than a file.
type ExtendsKeys struct {
	Spec    string   `yaml:"spec" required:"true" doc:"The spec that this one extends; a folder means its spec.yaml."`
	Without []string `yaml:"without" doc:"Dotted names of what is not taken over: tools.write_file, guards.stuck, output."`
}

var llmKeys = config.KeysOf(LLM{})

// LLMKeys are the keys of an llm, which a role may also have beside its llm to
// override them.
func LLMKeys() []string { return slices.Clone(llmKeys) }
