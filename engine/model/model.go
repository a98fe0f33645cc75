package model

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// Model is one language model as a spec's llm entry configures it.
// Generate is called from many goroutines at once.
type Model interface {
	// Generate performs one call. A nil stream asks for the whole reply at
	// once; else each delta is passed to stream, in order, from the calling
	// goroutine, and the returned Reply is still complete. An error is a
	// *Error wherever the cause is known, and ctx.Err() is wrapped when
	// ctx ended the call: a partial reply is never returned as a whole one.
	Generate(ctx context.Context, req *Request, stream func(Delta)) (*Reply, error)
}

// RunScoped is a capability of a Model that keeps state for the length of one
// run (a scripted model's used-up replies). ForRun is called once, when a
// session of the run starts; the run then uses the Model it returns.
type RunScoped interface {
	ForRun(runID string) Model
}

// Sequenced is a capability of a Model whose choice depends on the order
// of the calls. Choose is called on the run's own goroutine, in the order in
// which the run issues calls, also for calls that a journal answers; the
// Model it returns performs this one call.
type Sequenced interface {
	Choose(req *Request) Model
}

// Delayed is a capability of a Model returned by Choose: how long the
// call takes. The engine waits (or advances virtual time) on its behalf.
type Delayed interface {
	Delay() time.Duration
}

// Role says who speaks in a Message.
type Role string

// The chat roles.
const (
	System    Role = "system"
	User      Role = "user"
	Assistant Role = "assistant"
	ToolRole  Role = "tool"
)

// Message is one turn of a conversation.
type Message struct {
	Role    Role       `json:"role"`
	Text    Text       `json:"text,omitempty"`
	Calls   []ToolCall `json:"calls,omitempty"`    // assistant: the tools it wants to call
	CallID  string     `json:"call_id,omitempty"`  // tool: which call this answers
	Tool    string     `json:"tool,omitempty"`     // tool: name of the tool that answers
	IsError bool       `json:"is_error,omitempty"` // tool: the call failed; Text says why
	Reply   *Reply     `json:"-"`                  // assistant: the reply it came from, for conversations; never sent
}

// ToolCall is a model's wish to call a tool. Args is the JSON text of the
// arguments as the model wrote it, which need not be valid JSON. Opaque is
// JSON that its provider alone understands and wants back with the call, such
// as the signed thinking that led to it: kept and passed on as it is, read by
// nobody else.
type ToolCall struct {
	ID     string          `json:"id,omitempty"`
	Name   string          `json:"name"`
	Args   json.RawMessage `json:"args,omitempty"`
	Opaque json.RawMessage `json:"opaque,omitempty"`
}

// toolCallJSON is a ToolCall on paper: arguments that are not JSON are text.
type toolCallJSON struct {
	ID     string          `json:"id,omitempty"`
	Name   string          `json:"name"`
	Args   json.RawMessage `json:"args,omitempty"`
	Text   *string         `json:"args_text,omitempty"`
	Opaque json.RawMessage `json:"opaque,omitempty"`
}

// MarshalJSON keeps arguments of every kind, JSON or not.
func (c ToolCall) MarshalJSON() ([]byte, error) {
	out := toolCallJSON{ID: c.ID, Name: c.Name, Args: c.Args, Opaque: c.Opaque}
	if len(c.Args) > 0 && !json.Valid(c.Args) {
		text := strings.ToValidUTF8(string(c.Args), "\uFFFD")
		out.Args, out.Text = nil, &text
	}
	return json.Marshal(out)
}

// UnmarshalJSON is the reverse of MarshalJSON.
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

// ToolDef is what a model is told of a tool.
type ToolDef struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Input       json.RawMessage `json:"input,omitempty"` // JSON Schema of the arguments object
}

// Params are a call's sampling parameters; nil and zero mean unset, and then
// nothing is sent: the provider's default holds.
type Params struct {
	Model           string   `json:"model,omitempty"`
	Temperature     *float64 `json:"temperature,omitempty"`
	TopP            *float64 `json:"top_p,omitempty"`
	Seed            *int64   `json:"seed,omitempty"`
	MaxOutputTokens int      `json:"max_output_tokens,omitempty"`
	Stop            []string `json:"stop,omitempty"`
}

// ReplySchema asks for a reply that is JSON of a schema. A provider without
// native support leaves it out; the caller validates in any case.
type ReplySchema struct {
	Name   string          `json:"name"`
	Schema json.RawMessage `json:"schema"`
}

// Request is one model call.
type Request struct {
	Role          string       `json:"role"`           // who asks: planner, executor, reflector, finalizer, judge, summarizer
	Call          int          `json:"call"`           // number of the call, from 1, among those of that role: in the run, for the executor in the step
	Step          string       `json:"step,omitempty"` // goal of the step it is made for
	Key           string       `json:"-"`              // idempotency key: run and effect path
	Messages      []Message    `json:"messages"`
	Tools         []ToolDef    `json:"tools,omitempty"`
	ParallelTools bool         `json:"parallel_tools,omitempty"` // the model may ask for several calls in one reply
	Schema        *ReplySchema `json:"schema,omitempty"`
	Params        Params       `json:"params"`
	Fallback      bool         `json:"-"` // another llm is asked should this one give no answer
	Bounded       bool         `json:"-"` // Params.MaxOutputTokens is what a budget leaves, not what the spec says
	BoundBy       string       `json:"-"` // Bounded: the limit that leaves no more; "" = the model's own bound, or DefaultOutput
	Metered       bool         `json:"-"` // a budget pays for one attempt: what may be billed (Error.Billable) is not repeated by the model
	Made          int          `json:"-"` // attempts of this call that were made before: they count as attempts of its llm's retry policy
}

// StopReason says why a model stopped.
type StopReason string

// The stop kinds (DESIGN section 8).
const (
	EndTurn         StopReason = "end_turn"
	ToolUse         StopReason = "tool_use"
	MaxTokens       StopReason = "max_tokens"
	StopSequence    StopReason = "stop_sequence"
	ContentFiltered StopReason = "content_filtered"
	Guardrail       StopReason = "guardrail"
	Refusal         StopReason = "refusal"
)

// Tokens is what one call consumed, in tokens. Input includes Cached, which the
// provider's cache gave, and CacheWrite, which went into it; Output includes
// Reasoning.
type Tokens struct {
	Input      int `json:"input_tokens"`
	Output     int `json:"output_tokens"`
	Cached     int `json:"cached_input_tokens,omitempty"`
	CacheWrite int `json:"cache_write_tokens,omitempty"`
	Reasoning  int `json:"reasoning_tokens,omitempty"`
}

// Total is input and output together.
func (t Tokens) Total() int { return t.Input + t.Output }

// Reply is a complete answer of a model.
type Reply struct {
	Text       string        `json:"text,omitempty"`
	Calls      []ToolCall    `json:"calls,omitempty"`
	Stop       StopReason    `json:"stop"`
	Usage      Tokens        `json:"usage"`
	Estimated  bool          `json:"estimated,omitempty"`   // Usage was not reported: characters / 4
	Uncounted  bool          `json:"uncounted,omitempty"`   // a server answered and did not report Usage
	Sent       int           `json:"sent_tokens,omitempty"` // an estimate of the request's messages, where the server counted less than half of it: it may have cut them; else 0
	Model      string        `json:"model,omitempty"`       // the model that answered, as the provider names it
	ID         string        `json:"id,omitempty"`          // the provider's id of the reply
	Attempts   int           `json:"attempts,omitempty"`    // requests made, when more than one
	Latency    time.Duration `json:"latency,omitempty"`
	Bound      *OutputBound  `json:"-"`                     // of a reply that was cut off there; nil = no budget bounded it
	FirstToken time.Duration `json:"first_token,omitempty"` // streams: time to the first delta
}

// OutputBound is how many output tokens a budget allowed a reply, and by which
// limit; "" = by the model's own bound, or DefaultOutput.
type OutputBound struct {
	Tokens int
	Limit  string
}

// Delta is a piece of a streamed reply, for people to watch; nodes never see it.
type Delta struct {
	Text      string
	Reasoning string
}

// ErrorKind is the class of a failed model call.
type ErrorKind string

// The error kinds. Retrying is sensible for the first five only.
const (
	RateLimited    ErrorKind = "rate_limit"
	Overloaded     ErrorKind = "overloaded"
	ServerError    ErrorKind = "server_error"
	NetworkError   ErrorKind = "network"
	Truncated      ErrorKind = "truncated" // the stream ended before the reply did
	CallTimeout    ErrorKind = "timeout"
	AuthError      ErrorKind = "auth"
	NotFound       ErrorKind = "not_found"
	BadRequest     ErrorKind = "bad_request"
	ContextTooLong ErrorKind = "context_length"
	BadReply       ErrorKind = "bad_reply" // the body was not what the protocol promises
	NoReply        ErrorKind = "no_reply"  // a script or cassette has none for this call
)

// Error is a failed model call.
type Error struct {
	Kind       ErrorKind     `json:"kind"`
	Status     int           `json:"status,omitempty"` // HTTP status
	RetryAfter time.Duration `json:"retry_after,omitempty"`
	Message    string        `json:"message"`
	RequestID  string        `json:"request_id,omitempty"`
	Attempts   int           `json:"attempts,omitempty"`
	Unsent     bool          `json:"unsent,omitempty"`  // the request did not reach the model
	Charged    bool          `json:"charged,omitempty"` // a budget paid for it, since it may be on the bill all the same
	Err        error         `json:"-"`
}

// Error reads as a sentence part: kind, status and the provider's message.
func (e *Error) Error() string {
	if e.Status != 0 {
		return fmt.Sprintf("%s (HTTP %d): %s", e.Kind, e.Status, e.Message)
	}
	return fmt.Sprintf("%s: %s", e.Kind, e.Message)
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// Retryable says whether the same call may succeed a moment later.
func (e *Error) Retryable() bool { return e.Kind.Retryable() }

// Retryable says whether a failure of this kind may pass by itself.
func (k ErrorKind) Retryable() bool {
	switch k {
	case RateLimited, Overloaded, ServerError, NetworkError, Truncated:
		return true
	default:
		return false
	}
}

// KeyVariables are the environment variables that hold the credentials of a
// cause whose spec names no api_key_env.
type KeyVariables struct {
	Names    []string // of the API key; the first that is set counts
	Others   []string // of other credentials that the provider takes instead
	Required bool     // the provider's own server refuses requests without a key
}

// Keyed is a capability of a model's Config: it says where the key is. A Config
// without it takes no key but that of api_key_env.
type Keyed interface{ KeyVariables() KeyVariables }

// Offline is a capability of a model's Config: its model answers from files, and
// needs neither a network nor a key.
type Offline interface{ AnswersOffline() }

// KeyVariablesOf are those that a model's Config declares.
func KeyVariablesOf(config any) KeyVariables {
	if c, ok := config.(Keyed); ok {
		return c.KeyVariables()
	}
	return KeyVariables{}
}

// Plus adds two consumptions.
func (t Tokens) Plus(o Tokens) Tokens {
	return Tokens{t.Input + o.Input, t.Output + o.Output, t.Cached + o.Cached, t.CacheWrite + o.CacheWrite, t.Reasoning + o.Reasoning}
}
