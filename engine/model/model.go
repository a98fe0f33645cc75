package model

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// Model is a language model configured by an entry of llms. It must be safe for
// concurrent use.
type Model interface {
	// Generate performs one call. With a nil stream it requests the whole reply at once;
	// otherwise it passes each delta to stream, in order, from the calling goroutine, and
	// still returns the complete Reply. The error is a *Error if the cause is known, and
	// wraps ctx.Err() if ctx ended the call. It never returns a partial reply as a
	// complete one.
	Generate(ctx context.Context, req *Request, stream func(Delta)) (*Reply, error)
}

// RunScoped is a Model that has state per run, such as a scripted model's used replies.
// ForRun is called when a session of the run starts; the run uses the Model it returns.
type RunScoped interface {
	ForRun(runID string) Model
}

// Sequenced is a Model whose choice depends on the order of calls. Choose is called on
// the run's own goroutine in the order of the calls, including replayed ones; the
// returned Model performs this one call.
type Sequenced interface {
	Choose(req *Request) Model
}

// Delayed is a Model returned by Choose that takes a given time. The engine waits, or
// advances virtual time.
type Delayed interface {
	Delay() time.Duration
}

// Role is the author of a Message.
type Role string

// The chat roles.
const (
	System    Role = "system"
	User      Role = "user"
	Assistant Role = "assistant"
	ToolRole  Role = "tool"
)

// Message is a turn of a conversation.
type Message struct {
	Role    Role       `json:"role"`
	Text    Text       `json:"text,omitempty"`
	Calls   []ToolCall `json:"calls,omitempty"`    // assistant: requested tool calls
	CallID  string     `json:"call_id,omitempty"`  // tool: id of the call it answers
	Tool    string     `json:"tool,omitempty"`     // tool: name of the tool
	IsError bool       `json:"is_error,omitempty"` // tool: the call failed; Text has the error
	Reply   *Reply     `json:"-"`                  // assistant: the reply it comes from; never sent

	Attachments []Attachment `json:"attachments,omitempty"` // user: files that the model reads before the text
}

// ToolCall is a tool call requested by a model. Args is the JSON text of the arguments as
// the model wrote it, which may be invalid. Opaque is JSON that only its provider
// understands and needs back with the call, such as signed thinking: stored and passed on
// unchanged.
type ToolCall struct {
	ID     string          `json:"id,omitempty"`
	Name   string          `json:"name"`
	Args   json.RawMessage `json:"args,omitempty"`
	Opaque json.RawMessage `json:"opaque,omitempty"`
}

// toolCallJSON is the JSON form of ToolCall; invalid arguments become a string.
type toolCallJSON struct {
	ID     string          `json:"id,omitempty"`
	Name   string          `json:"name"`
	Args   json.RawMessage `json:"args,omitempty"`
	Text   *string         `json:"args_text,omitempty"`
	Opaque json.RawMessage `json:"opaque,omitempty"`
}

// MarshalJSON encodes valid and invalid arguments.
func (c ToolCall) MarshalJSON() ([]byte, error) {
	out := toolCallJSON{ID: c.ID, Name: c.Name, Args: c.Args, Opaque: c.Opaque}
	if len(c.Args) > 0 && !json.Valid(c.Args) {
		text := strings.ToValidUTF8(string(c.Args), "\uFFFD")
		out.Args, out.Text = nil, &text
	}
	return json.Marshal(out)
}

// UnmarshalJSON reverses MarshalJSON.
func (c *ToolCall) UnmarshalJSON(b []byte) error {
	var in toolCallJSON
	if err := json.Unmarshal(b, &in); err != nil {
		return err
	}
	*c = ToolCall{ID: in.ID, Name: in.Name, Args: in.Args, Opaque: in.Opaque}
	if in.Text != nil {
		c.Args = json.RawMessage(*in.Text)
	}
	return nil
}

// ToolDef is the definition of a tool for a model.
type ToolDef struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Input       json.RawMessage `json:"input,omitempty"` // JSON Schema of the arguments object
}

// Params are a call's sampling parameters. Nil and zero mean unset: nothing is sent, and
// the provider's default applies.
type Params struct {
	Model           string   `json:"model,omitempty"`
	Temperature     *float64 `json:"temperature,omitempty"`
	TopP            *float64 `json:"top_p,omitempty"`
	Seed            *int64   `json:"seed,omitempty"`
	MaxOutputTokens int      `json:"max_output_tokens,omitempty"`
	Stop            []string `json:"stop,omitempty"`
}

// ReplySchema requests JSON of a schema. Providers without native support ignore it; the
// caller validates anyway.
type ReplySchema struct {
	Name   string          `json:"name"`
	Schema json.RawMessage `json:"schema"`
}

// Request is a model call.
type Request struct {
	Role          string       `json:"role"`           // planner, executor, reflector, finalizer, judge, summarizer
	Call          int          `json:"call"`           // number of the call within its role, from 1: per run, for the executor per step
	Step          string       `json:"step,omitempty"` // goal of its step
	Key           string       `json:"-"`              // idempotency key: run and effect path
	Messages      []Message    `json:"messages"`
	Tools         []ToolDef    `json:"tools,omitempty"`
	ParallelTools bool         `json:"parallel_tools,omitempty"` // the reply may contain several tool calls
	Schema        *ReplySchema `json:"schema,omitempty"`
	Params        Params       `json:"params"`
	Fallback      bool         `json:"-"` // another LLM is tried if this one fails
	Bounded       bool         `json:"-"` // Params.MaxOutputTokens comes from a budget, not the spec
	BoundBy       string       `json:"-"` // if Bounded: the limit; "" = the model's own maximum or DefaultOutput
	Metered       bool         `json:"-"` // a budget pays for one attempt: the model must not retry what may be billed (Error.MaybeBilled)
	PriorAttempts int          `json:"-"` // attempts made before, counted by the LLM's retry policy
}

// StopReason is why a model stopped.
type StopReason string

// The stop reasons.
const (
	EndTurn         StopReason = "end_turn"
	ToolUse         StopReason = "tool_use"
	MaxTokens       StopReason = "max_tokens"
	StopSequence    StopReason = "stop_sequence"
	ContentFiltered StopReason = "content_filtered"
	Guardrail       StopReason = "guardrail"
	Refusal         StopReason = "refusal"
)

// Tokens is the usage of one call in tokens. Input includes Cached (read from the
// provider's cache) and CacheWrite (written to it); Output includes Reasoning.
type Tokens struct {
	Input      int `json:"input_tokens"`
	Output     int `json:"output_tokens"`
	Cached     int `json:"cached_input_tokens,omitempty"`
	CacheWrite int `json:"cache_write_tokens,omitempty"`
	Reasoning  int `json:"reasoning_tokens,omitempty"`
}

// Total returns input plus output.
func (t Tokens) Total() int { return t.Input + t.Output }

// Reply is a complete reply of a model.
type Reply struct {
	Text       string        `json:"text,omitempty"`
	Calls      []ToolCall    `json:"calls,omitempty"`
	Stop       StopReason    `json:"stop"`
	Usage      Tokens        `json:"usage"`
	Estimated  bool          `json:"estimated,omitempty"`   // Usage was not reported: characters / 4
	Uncounted  bool          `json:"uncounted,omitempty"`   // the server did not report Usage
	Sent       int           `json:"sent_tokens,omitempty"` // estimated tokens of the request if the server counted less than half, so it may have truncated it; else 0
	Model      string        `json:"model,omitempty"`       // as the provider names it
	ID         string        `json:"id,omitempty"`          // the provider's id of the reply
	Attempts   int           `json:"attempts,omitempty"`    // requests made, if more than one
	Latency    time.Duration `json:"latency,omitempty"`
	Bound      *OutputBound  `json:"-"`                     // of a reply cut off by a budget; else nil
	FirstToken time.Duration `json:"first_token,omitempty"` // streams: time to the first delta
}

// OutputBound is how many output tokens a budget allowed a reply, and by which
// limit; "" = by the model's own bound, or DefaultOutput.
type OutputBound struct {
	Tokens int
	Limit  string
}

// Delta is a piece of a streamed reply, for display; nodes never see it.
type Delta struct {
	Text      string
	Reasoning string
}

// ErrorKind is the class of a failed model call.
type ErrorKind string

// The error kinds. Only the first five are worth a retry.
const (
	RateLimited    ErrorKind = "rate_limit"
	Overloaded     ErrorKind = "overloaded"
	ServerError    ErrorKind = "server_error"
	NetworkError   ErrorKind = "network"
	Truncated      ErrorKind = "truncated" // the stream ended before the reply
	CallTimeout    ErrorKind = "timeout"
	AuthError      ErrorKind = "auth"
	NotFound       ErrorKind = "not_found"
	BadRequest     ErrorKind = "bad_request"
	ContextTooLong ErrorKind = "context_length"
	BadReply       ErrorKind = "bad_reply"   // the response violates the protocol
	NoReply        ErrorKind = "no_reply"    // a script or cassette has no reply for the call
	Interrupted    ErrorKind = "interrupted" // a message of the user ended the call
)

// Error is a failed model call.
type Error struct {
	Kind       ErrorKind     `json:"kind"`
	Status     int           `json:"status,omitempty"` // HTTP status
	RetryAfter time.Duration `json:"retry_after,omitempty"`
	Message    string        `json:"message"`
	RequestID  string        `json:"request_id,omitempty"`
	Attempts   int           `json:"attempts,omitempty"`
	NotSent    bool          `json:"unsent,omitempty"`  // the request did not reach the model
	Charged    bool          `json:"charged,omitempty"` // a budget paid for it, since it may be billed
	Err        error         `json:"-"`
}

// Error returns kind, status and the provider's message.
func (e *Error) Error() string {
	if e.Status != 0 {
		return fmt.Sprintf("%s (HTTP %d): %s", e.Kind, e.Status, e.Message)
	}
	return fmt.Sprintf("%s: %s", e.Kind, e.Message)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Retryable reports whether the same call may succeed shortly after.
func (e *Error) Retryable() bool { return e.Kind.Retryable() }

// Retryable reports whether a failure of this kind may be temporary.
func (k ErrorKind) Retryable() bool {
	switch k {
	case RateLimited, Overloaded, ServerError, NetworkError, Truncated:
		return true
	default:
		return false
	}
}

// KeyVariables are the environment variables with credentials of a provider, if the spec
// has no api_key_env.
type KeyVariables struct {
	Names    []string // of the API key; the first that is set is used
	Others   []string // of alternative credentials
	Required bool     // the provider's own server requires a key
}

// Keyed is a model's Config that names its key variables. Other Configs use only
// api_key_env.
type Keyed interface{ KeyVariables() KeyVariables }

// Offline is a model's Config whose model answers from files and needs neither network
// nor key.
type Offline interface{ AnswersOffline() }

// KeyVariablesOf returns the key variables of a model's Config.
func KeyVariablesOf(config any) KeyVariables {
	if c, ok := config.(Keyed); ok {
		return c.KeyVariables()
	}
	return KeyVariables{}
}

// Plus returns the sum.
func (t Tokens) Plus(o Tokens) Tokens {
	return Tokens{t.Input + o.Input, t.Output + o.Output, t.Cached + o.Cached, t.CacheWrite + o.CacheWrite, t.Reasoning + o.Reasoning}
}
