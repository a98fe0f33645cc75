package scripted

import (
	"time"

	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/model"
)

// Scripted is the factory of the provider `scripted`.
var Scripted = component.New[Config, model.Settings, model.Model](
	"scripted",
	"Replies from a script, chosen by role and condition; for demos, tests and benchmarks. It is not a language model, and its vectors only count words.",
	func() Config { return Config{} },
	New,
)

// Config is the content of `options:`.
type Config struct {
	Replies []Reply `yaml:"replies" doc:"The replies; the first one not used up that matches a call answers it."`
	File    string  `yaml:"file" file:"replies" doc:"A YAML or JSON file with a list of replies, taken after the inline ones. The compiler reads it."`
}

// AnswersOffline implements model.Offline.
func (*Config) AnswersOffline() {}

// Reply is a reply of a script.
type Reply struct {
	Role       string             `yaml:"role" enum:"planner|executor|reflector|finalizer|judge|summarizer" doc:"Who must ask; none = anyone."`
	When       component.GuardRef `yaml:"when" env:"role string, call int, step string, prompt string" doc:"Condition on the call: role, call (the number of the call, from 1, among those of the role; for the executor within its step), step (the step's goal), prompt (the text of all messages sent)."`
	Text       string             `yaml:"text" doc:"What the model says."`
	ToolCalls  []ToolCall         `yaml:"tool_calls" doc:"The tools that the model wants to call."`
	StopReason model.StopReason   `yaml:"stop_reason" enum:"end_turn|tool_use|max_tokens|stop_sequence|content_filtered|guardrail|refusal" doc:"Why the model stops; tool_use with tool calls, else end_turn, by default."`
	Usage      *Usage             `yaml:"usage" doc:"Tokens that the call took; estimated as characters / 4 by default."`
	Delay      time.Duration      `yaml:"delay" min:"0s" doc:"How long the call takes; longer than the llm's timeout, it fails with that."`
	Error      *Failure           `yaml:"error" doc:"The call fails instead. What a real transport would repeat is repeated: the next reply that matches is taken."`
	Times      *int               `yaml:"times" min:"0" doc:"How often the reply may be taken; 1 by default, 0 = always."`
}

// ToolCall is a tool call of a reply.
type ToolCall struct {
	Name      string `yaml:"name" required:"true" doc:"The tool."`
	Arguments any    `yaml:"arguments" numbers:"exact" doc:"Its arguments, an object whose numbers keep their digits; a string is sent as it is, as the JSON that the model wrote."`
}

// Usage is the tokens of a reply.
type Usage struct {
	InputTokens       int `yaml:"input_tokens" min:"0" doc:"Tokens of the prompt, cached ones included."`
	OutputTokens      int `yaml:"output_tokens" min:"0" doc:"Tokens of the reply, reasoning included."`
	CachedInputTokens int `yaml:"cached_input_tokens" min:"0" doc:"Tokens of the prompt that came from a cache."`
	CacheWriteTokens  int `yaml:"cache_write_tokens" min:"0" doc:"Tokens of the prompt that went into a cache."`
	ReasoningTokens   int `yaml:"reasoning_tokens" min:"0" doc:"Tokens of the reply that are reasoning."`
}

// Failure is a call that fails.
type Failure struct {
	Status     int           `yaml:"status" min:"0" max:"599" doc:"HTTP status; none = the network failed."`
	RetryAfter time.Duration `yaml:"retry_after" min:"0s" doc:"The wait that the server asks for, as by Retry-After."`
	Message    string        `yaml:"message" doc:"What the server says."`
}
