package scripted

import (
	"time"

	"github.com/pexctl/pex/engine/attachment"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/model"
)

// Scripted is the factory of the provider `scripted`.
var Scripted = component.New[Config, model.Settings, model.Model](
	"scripted",
	"Scripted replies, chosen by role and condition, for demos, tests and benchmarks. It is not a language model, and its embeddings only count words.",
	func() Config { return Config{} },
	New,
)

// Config is the content of `options:`.
type Config struct {
	Replies []Reply `yaml:"replies" doc:"Replies. A call gets the first matching reply that is not used up."`
	File    string  `yaml:"file" file:"replies" doc:"YAML or JSON file with a list of replies, used after the inline ones."`
}

// AnswersOffline implements model.Offline.
func (*Config) AnswersOffline() {}

var _ model.Multimodal = (*Config)(nil)

// FileSupport implements model.Multimodal. A script reads no files, but the rules of a
// prompt can test their names. Their tokens are those of Claude models.
func (*Config) FileSupport(string) model.FileSupport {
	return model.FileSupport{Kinds: []model.FileKind{model.ImageFile, model.PDFFile}, Tokens: attachment.ClaudeTokens}
}

// Reply is a reply of a script.
type Reply struct {
	Role       string             `yaml:"role" enum:"planner|executor|reflector|finalizer|judge|summarizer" doc:"Role of the caller. Default: any."`
	When       component.GuardRef `yaml:"when" env:"role string, call int, step string, prompt string" doc:"Condition on the call, with the names role, call (number of the call, from 1, per role; for the executor per step), step (the step's goal) and prompt (the text of all messages, with a line for each file that the model gets, such as: file shot.png (image/png))."`
	Text       string             `yaml:"text" doc:"Text of the reply."`
	ToolCalls  []ToolCall         `yaml:"tool_calls" doc:"Tool calls of the reply."`
	StopReason model.StopReason   `yaml:"stop_reason" enum:"end_turn|tool_use|max_tokens|stop_sequence|content_filtered|guardrail|refusal" doc:"Stop reason. Default: tool_use with tool calls, else end_turn."`
	Usage      *Usage             `yaml:"usage" doc:"Token usage of the call. Default: estimated as characters / 4."`
	Delay      time.Duration      `yaml:"delay" min:"0s" doc:"Duration of the call. If it exceeds the llm's timeout, the call fails with a timeout."`
	Error      *Failure           `yaml:"error" doc:"Makes the call fail instead. A retryable error is retried with the next matching reply."`
	Times      *int               `yaml:"times" min:"0" doc:"How often the reply may be used; 0 = always. Default: 1."`
}

// ToolCall is a tool call of a reply.
type ToolCall struct {
	Name      string `yaml:"name" required:"true" doc:"Name of the tool."`
	Arguments any    `yaml:"arguments" numbers:"exact" doc:"Arguments, as an object; numbers keep their digits. A string is used unchanged as the JSON written by the model."`
}

// Usage is the tokens of a reply.
type Usage struct {
	InputTokens       int `yaml:"input_tokens" min:"0" doc:"Input tokens, including cached ones."`
	OutputTokens      int `yaml:"output_tokens" min:"0" doc:"Output tokens, including reasoning."`
	CachedInputTokens int `yaml:"cached_input_tokens" min:"0" doc:"Input tokens read from a cache."`
	CacheWriteTokens  int `yaml:"cache_write_tokens" min:"0" doc:"Input tokens written to a cache."`
	ReasoningTokens   int `yaml:"reasoning_tokens" min:"0" doc:"Reasoning tokens of the output."`
}

// Failure is a call that fails.
type Failure struct {
	Status     int           `yaml:"status" min:"0" max:"599" doc:"HTTP status. Default: none, a network error."`
	RetryAfter time.Duration `yaml:"retry_after" min:"0s" doc:"Delay requested by the server, as in Retry-After."`
	Message    string        `yaml:"message" doc:"Error message of the server."`
}
