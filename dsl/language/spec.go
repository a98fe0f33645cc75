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

// Spec is a complete spec. Sections of named entries, and those that a
// component's Config decodes, stay nodes.
type Spec struct {
	APIVersion     string       `yaml:"apiVersion" required:"true" enum:"pex/v1" doc:"The version of the language."`
	Kind           string       `yaml:"kind" required:"true" doc:"The kind of file: Agent, Library (shared LLMs, tools and prompts), Tests, Suite or Prices."`
	Metadata       Metadata     `yaml:"metadata" doc:"The name and description of the agent."`
	Extends        *syntax.Node `yaml:"extends" doc:"A base spec that this one extends and overrides: a path, or {spec: PATH, without: [NAMES]}."`
	Include        []string     `yaml:"include" doc:"Files of kind Library whose LLMs, tools and prompts are merged by name."`
	Parameters     *syntax.Node `yaml:"parameters" doc:"Typed inputs. Each is a JSON Schema property, plus required and default. The parameter question always exists."`
	InjectDatetime bool         `yaml:"inject_datetime" doc:"Adds the start time of the run, in UTC, to the system prompts of planner and executor."`
	DatetimeFormat string       `yaml:"datetime_format" doc:"The format of that time, in strftime directives."`
	LLMs           *syntax.Node `yaml:"llms" doc:"The language models, by name. They exchange text, tool calls and JSON, and read the images and PDF files that accepts allows."`
	Tools          *syntax.Node `yaml:"tools" doc:"The tools, by name. A built-in tool needs no type: clock: {}."`
	Prompts        *syntax.Node `yaml:"prompts" doc:"Named texts. Use them with {use: NAME} where a prompt is expected, or with ${prompts.NAME} inside a prompt."`
	Agents         *syntax.Node `yaml:"agents" doc:"More agents in this file, by name; refer to one with #NAME. Each shares the LLMs and prompts of the file, and can use the tools that its executor.tools or nodes name."`
	Planner        *syntax.Node `yaml:"planner" doc:"The node that makes the plan."`
	Executor       *syntax.Node `yaml:"executor" doc:"The node that runs the steps of the plan."`
	Reflector      *syntax.Node `yaml:"reflector" doc:"The node that reviews the results of the steps."`
	Finalizer      *syntax.Node `yaml:"finalizer" doc:"The node that writes the answer if the planner did not."`
	Limits         Limits       `yaml:"limits" doc:"The limits of a run. What is not listed is not limited."`
	Guards         *syntax.Node `yaml:"guards" doc:"Rules that are checked at certain places of a run. The first one whose condition is true is applied."`
	Output         *Output      `yaml:"output" doc:"Requirements for the final answer. Default: free text."`
	Memory         Memory       `yaml:"memory" doc:"Where conversations are stored, and how durably runs are."`
	Graph          *syntax.Node `yaml:"graph" doc:"Custom nodes and conditional edges, instead of those of reflector.strategy."`
	Tests          *syntax.Node `yaml:"tests" doc:"Test cases for pexctl test. They do not change the agent."`
	Evals          *syntax.Node `yaml:"evals" doc:"Paths of suites for pexctl eval."`
}

// Metadata is the section metadata.
type Metadata struct {
	Name        string            `yaml:"name" required:"true" doc:"The agent's name."`
	Version     string            `yaml:"version" doc:"The version of the agent, as free text."`
	Description string            `yaml:"description" doc:"The purpose, in one sentence."`
	Labels      map[string]string `yaml:"labels" doc:"Labels to find and group agents."`
}

// Limits is the section limits.
type Limits struct {
	MaxSteps                    int           `yaml:"max_steps" min:"1" doc:"The maximum number of steps in a run."`
	ExecutorMaxIterations       int           `yaml:"executor_max_iterations" min:"1" doc:"The maximum number of model calls in one step."`
	MessageHistoryLimit         int           `yaml:"message_history_limit" min:"0" doc:"The maximum number of earlier turns of a conversation in planning prompts, and of results in a review. A longer run shows only the newest 10 to 20 percent of that many results in a review; the last review shows all results."`
	ExecutorMessageHistoryLimit int           `yaml:"executor_message_history_limit" min:"0" doc:"The maximum number of earlier steps, as pairs of step and report, in executor prompts. A longer run shows only the newest 10 to 20 percent of that many; a limit below 5 always shows that many."`
	MaxReplans                  int           `yaml:"max_replans" min:"0" doc:"The maximum number of times a plan is replaced. With 0, the first plan is final."`
	MaxToolCalls                int           `yaml:"max_tool_calls" min:"1" doc:"The maximum number of tool calls in a run."`
	MaxConsecutiveToolCalls     int           `yaml:"max_consecutive_tool_calls" min:"1" doc:"The maximum number of consecutive calls of the same tool with the same arguments."`
	MaxTokens                   int           `yaml:"max_tokens" min:"1" doc:"The maximum number of tokens of all model calls, input and output."`
	MaxCost                     float64       `yaml:"max_cost" over:"0" doc:"The maximum cost in US dollars. The price of every LLM must be known."`
	MaxDuration                 time.Duration `yaml:"max_duration" over:"0s" doc:"The maximum active time of the run, including the final answer. A tenth of it, at most 30s, is reserved for the finalizer. Only a write in flight can extend it."`
}

// defaultLimits returns the defaults of OpenSearch's agent for limits with the
// same names, and one of pex.
func defaultLimits() Limits {
	return Limits{
		MaxSteps: 20, ExecutorMaxIterations: 20, MessageHistoryLimit: 10,
		ExecutorMessageHistoryLimit: 10, MaxReplans: 10, MaxConsecutiveToolCalls: 5,
	}
}

// LLM is one entry of llms, and what a role may override.
type LLM struct {
	Provider        string              `yaml:"provider" required:"true" doc:"The provider that serves the model."`
	Model           string              `yaml:"model" doc:"The provider's name for the model."`
	BaseURL         component.Template  `yaml:"base_url" vars:"env,parameters" doc:"The address of the API, if it is not the provider's default."`
	APIKeyEnv       string              `yaml:"api_key_env" doc:"The environment variable that holds the API key. Default: the provider's own, such as OPENAI_API_KEY."`
	Temperature     *float64            `yaml:"temperature" min:"0" max:"2" doc:"The sampling temperature. Default: the provider's."`
	TopP            *float64            `yaml:"top_p" min:"0" max:"1" doc:"Nucleus sampling: the probability mass of the tokens to choose from."`
	Seed            *int64              `yaml:"seed" doc:"Makes sampling repeatable, if the provider supports it."`
	MaxOutputTokens int                 `yaml:"max_output_tokens" min:"1" doc:"The maximum number of tokens in one reply."`
	Stop            []string            `yaml:"stop" doc:"Stop sequences: texts that end a reply."`
	SystemPrompt    component.PromptRef `yaml:"system_prompt" fork:"fixed" vars:"parameters,@system" doc:"The system prompt of nodes that have none of their own."`
	Timeout         time.Duration       `yaml:"timeout" over:"0s" doc:"The maximum time of one call."`
	Retry           Retry               `yaml:"retry" doc:"How failed calls are retried. A run retries at most 10 calls plus a tenth of all its calls. After 5 consecutive failures of a server, the circuit breaker opens for one second, or as long as the server asks; one call then probes the server, and each failure doubles the time, up to 30 seconds."`
	RateLimit       RateLimit           `yaml:"rate_limit" doc:"The rate limit of this process for the LLM."`
	Accepts         []model.FileKind    `yaml:"accepts" enum:"image|pdf" doc:"The files that the model reads: image (PNG, JPEG, GIF and WebP), pdf. Such files of a run (--file) go with the first user message of each call of planner, executor and finalizer. Default: none; files are only for tools."`
	Fallback        []string            `yaml:"fallback" doc:"Other LLMs, tried in order when this one fails, and immediately while its circuit breaker is open."`
	Cost            *Cost               `yaml:"cost" doc:"Prices in USD per million tokens. Prices of well-known models are built in."`
	Options         *syntax.Node        `yaml:"options" doc:"Options of this provider."`
}

// Retry configures how failed calls of an LLM or a tool are retried.
type Retry struct {
	MaxAttempts  int           `yaml:"max_attempts" min:"1" max:"20" doc:"The maximum number of calls, including the first."`
	InitialDelay time.Duration `yaml:"initial_delay" min:"0s" doc:"The delay before the second call. It doubles for each further one."`
	MaxDelay     time.Duration `yaml:"max_delay" min:"0s" doc:"The maximum delay. If an LLM's server asks for a longer one (Retry-After), the call is not retried: it fails or goes to the fallback."`
	Jitter       bool          `yaml:"jitter" doc:"Uses a random delay between zero and the computed one."`
}

// RateLimit is the section rate_limit of an LLM.
type RateLimit struct {
	RequestsPerMinute int `yaml:"requests_per_minute" min:"1" doc:"The maximum number of calls started per minute."`
	TokensPerMinute   int `yaml:"tokens_per_minute" min:"1" doc:"The maximum number of tokens per minute."`
	MaxConcurrent     int `yaml:"max_concurrent" min:"1" doc:"The maximum number of concurrent calls."`
}

// Cost is the section cost of an LLM.
type Cost struct {
	Input       float64 `yaml:"input" required:"true" min:"0" doc:"USD per million input tokens."`
	Output      float64 `yaml:"output" required:"true" min:"0" doc:"USD per million output tokens."`
	CachedInput float64 `yaml:"cached_input" min:"0" doc:"USD per million input tokens read from the cache. Default: the input price."`
	CacheWrite  float64 `yaml:"cache_write" min:"0" doc:"USD per million input tokens written to the cache. Default: the input price."`

	Above *CostAbove `yaml:"above" doc:"Prices for the whole request if its input is longer."`
}

// CostAbove is the section above of a cost.
type CostAbove struct {
	Tokens      int     `yaml:"tokens" required:"true" min:"1" doc:"The number of input tokens above which these prices apply."`
	Input       float64 `yaml:"input" required:"true" min:"0" doc:"USD per million input tokens."`
	Output      float64 `yaml:"output" required:"true" min:"0" doc:"USD per million output tokens."`
	CachedInput float64 `yaml:"cached_input" min:"0" doc:"USD per million input tokens read from the cache. Default: the input price."`
	CacheWrite  float64 `yaml:"cache_write" min:"0" doc:"USD per million input tokens written to the cache. Default: the input price."`
}

// Price returns the cost in the form for accounting.
func (c *Cost) Price() *model.Cost {
	out := &model.Cost{Input: c.Input, Output: c.Output, CachedInput: c.CachedInput, CacheWrite: c.CacheWrite}
	if c.Above != nil {
		above := model.CostAbove(*c.Above)
		out.Above = &above
	}
	return out
}

// DefaultLLM returns an LLM with the defaults.
func DefaultLLM() LLM {
	return LLM{Retry: Retry{MaxAttempts: 3, InitialDelay: 500 * time.Millisecond, MaxDelay: 30 * time.Second, Jitter: true}}
}

// Tool holds the keys common to all types of tools.
type Tool struct {
	Type           string              `yaml:"type" doc:"The type of the tool: builtin, http, command, mcp, agent or the name of a built-in tool. Default: the name of the entry, if a built-in tool has this name."`
	Use            string              `yaml:"use" doc:"With type: builtin, the built-in tool to use if the entry has another name."`
	Description    string              `yaml:"description" doc:"The description that the model sees. Default: the tool's own."`
	Effect         string              `yaml:"effect" enum:"read|idempotent|write" doc:"The side effect of a call. Default: the tool's own, otherwise write."`
	Approval       component.GuardRef  `yaml:"approval" words:"never|always" env:"@approval" doc:"Whether a human approves each call: never, always or an expression."`
	Approvers      component.GuardRef  `yaml:"approvers" env:"@approvers" doc:"Who may approve a call, answer its other questions and decide about its unknown outcome: an expression over by (subject, issuer, roles, tenant), tool and run.by. Anyone who may answer may deny. approval then defaults to always. Default: anyone who may answer."`
	FourEyes       bool                `yaml:"four_eyes" doc:"Whether someone who neither started nor changed the run must approve. Changing it means editing a call or a plan, answering with text, denying with a reason, supplying a result, raising a limit or sending a message. approval then defaults to always."`
	OnUnknown      string              `yaml:"on_unknown" enum:"review|continue" doc:"What happens if a call with side effects has an unknown outcome (timeout, lost connection, killed process). review: the run waits for a human (exit code 5). continue: the model sees a note that the call may have taken effect, and the result has a warning. Default: review."`
	Timeout        time.Duration       `yaml:"timeout" over:"0s" doc:"The maximum time of a call. Default: 60s."`
	MaxOutputBytes int                 `yaml:"max_output_bytes" min:"1" doc:"The maximum number of output bytes that the model sees. Default: 65536."`
	MaxConcurrent  int                 `yaml:"max_concurrent" min:"1" doc:"The maximum number of concurrent calls in a run; for a server, of all its tools together. Default: 16."`
	Retry          *Retry              `yaml:"retry" doc:"How failed calls are retried. Not allowed for a tool that writes."`
	With           *syntax.Node        `yaml:"with" doc:"Fixed argument values. The model does not see them and cannot override them."`
	OutputFilter   component.FilterRef `yaml:"output_filter" doc:"A JSONPath that is applied to the output."`
	Host           string              `yaml:"host" doc:"With --driver temporal, the label of the workers that run the tool, because only their machines have its files, programs or network; any = every worker has them. Default: any worker, which is an error for a tool that needs files or programs of a machine."`
	IncludeOutput  bool                `yaml:"include_output_in_agent_response" doc:"Includes the output in the agent's response."`
}

// GuardRule is one entry of guards. Its expression is compiled for its place.
type GuardRule struct {
	Name      string       `yaml:"name" required:"true" doc:"The name of the guard in events and results."`
	At        string       `yaml:"at" required:"true" enum:"after_plan|before_tool|after_tool|after_step|after_reflect" doc:"The place where the guard is checked."`
	When      *syntax.Node `yaml:"when" required:"true" doc:"The condition, an expression."`
	Do        string       `yaml:"do" required:"true" enum:"stop|succeed|fail|replan|interrupt|deny" doc:"The action. stop and succeed end the run with an answer, fail without one. replan makes a new plan; at a tool, in the middle of the step. interrupt asks a human; at before_tool it shows the call, and a denial rejects it. deny rejects the call."`
	Approvers *syntax.Node `yaml:"approvers" doc:"With do: interrupt, who may let the run continue: an expression over by (subject, issuer, roles, tenant), run.by and, at before_tool, tool. Default: anyone who may answer."`
	FourEyes  bool         `yaml:"four_eyes" doc:"With do: interrupt, whether someone who neither started nor changed the run must answer."`
	Message   string       `yaml:"message" doc:"The message for people and models. Plain text."`
}

// Output is the section output.
type Output struct {
	Schema  component.SchemaRef  `yaml:"schema" doc:"The JSON Schema of the answer."`
	Repair  Repair               `yaml:"repair" doc:"What happens if an answer does not match the schema."`
	Ensures []component.GuardRef `yaml:"ensures" env:"@ensures" doc:"Conditions that an answer must satisfy."`
}

// Repair is the section output.repair.
type Repair struct {
	MaxAttempts *int `yaml:"max_attempts" min:"0" max:"10" doc:"How often the node is asked to correct its answer, with the errors. Default: 2."`
}

// Memory is the section memory.
type Memory struct {
	Backend    string       `yaml:"backend" enum:"badger|postgres|none" doc:"The store for conversations: badger = a directory; postgres = a PostgreSQL database, which many machines can share."`
	Path       string       `yaml:"path" doc:"With badger: the directory of the store. Default: a directory below the home."`
	DSNEnv     string       `yaml:"dsn_env" doc:"With postgres: the environment variable that has the address of the database, such as postgres://user:password@host:5432/name."`
	Durability string       `yaml:"durability" enum:"sync|async|exit" doc:"When a run's journal is synced to disk: sync = writes, questions, decisions and the end before they count, everything else within 100 ms; async = in the background; exit = at the end. A killed process loses nothing either way."`
	History    bool         `yaml:"history" doc:"Whether prompts show earlier turns of the same memory id. With false, each run starts without them but is still stored."`
	Compaction *syntax.Node `yaml:"compaction" doc:"How long conversations are shortened before they are sent. Default: not at all."`
}

// GraphKeys is the section graph. Its nodes are decoded by type.
type GraphKeys struct {
	Start string         `yaml:"start" doc:"The first node. Default: the first in the list."`
	Nodes []*syntax.Node `yaml:"nodes" required:"true" min:"1" doc:"The nodes, each with id, type and the keys of its type."`
	Edges []EdgeKeys     `yaml:"edges" required:"true" min:"1" doc:"The edges, tried in order."`
}

// EdgeKeys is an entry of graph.edges.
type EdgeKeys struct {
	From string             `yaml:"from" required:"true" doc:"The node where the edge starts."`
	To   string             `yaml:"to" required:"true" doc:"The node where the edge ends, or end."`
	When component.GuardRef `yaml:"when" env:"@edge" doc:"The condition of the edge. The last edge of a node has none."`
}

// NodeKeys holds the keys common to all entries of graph.nodes.
type NodeKeys struct {
	ID   string `yaml:"id" required:"true" doc:"The name of the node in edges."`
	Type string `yaml:"type" required:"true" doc:"The type of the node."`
}

const defaultDatetime = "%Y-%m-%dT%H:%M:%SZ"

// DefaultSpec returns a spec with the defaults.
func DefaultSpec() Spec {
	return Spec{
		DatetimeFormat: defaultDatetime,
		Limits:         defaultLimits(),
		Memory:         Memory{Backend: "badger", Durability: "sync", History: true},
	}
}

// ExtendsKeys is the long form of the key extends.
type ExtendsKeys struct {
	Spec    string   `yaml:"spec" required:"true" doc:"The base spec. For a directory, its spec.yaml."`
	Without []string `yaml:"without" doc:"Dotted names of parts to leave out: tools.write_file, guards.stuck, output."`
}

var llmKeys = config.KeysOf(LLM{})

// LLMKeys returns the keys of an LLM, which a role may also have to override its
// LLM.
func LLMKeys() []string { return slices.Clone(llmKeys) }
