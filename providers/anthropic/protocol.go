package anthropic

import (
	"encoding/json"
	"strings"

	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/providers/modelhttp"
)

// messageRequest is the body of a request. Unset fields are not sent.
type messageRequest struct {
	MaxTokens     int64           `json:"max_tokens"`
	Messages      []turn          `json:"messages"`
	Model         string          `json:"model"`
	OutputConfig  *outputConfig   `json:"output_config,omitempty"`
	StopSequences []string        `json:"stop_sequences,omitempty"`
	System        []requestBlock  `json:"system,omitempty"`
	Temperature   *float64        `json:"temperature,omitempty"`
	Thinking      *thinkingConfig `json:"thinking,omitempty"`
	ToolChoice    *toolChoice     `json:"tool_choice,omitempty"`
	Tools         []toolParam     `json:"tools,omitempty"`
	TopP          *float64        `json:"top_p,omitempty"`
	Stream        bool            `json:"stream,omitempty"`
}

// turn is what the user or the assistant contributes until the other one does.
type turn struct {
	Content []*requestBlock `json:"content"`
	Role    model.Role      `json:"role"`
}

// The types of content blocks that matter. Others are ignored in replies.
const (
	typeText     = "text"
	typeThinking = "thinking"
	typeRedacted = "redacted_thinking"
	typeCall     = "tool_use"
	typeResult   = "tool_result"
	typeImage    = "image"
	typeDocument = "document"
)

// requestBlock is a content block of any type in a request.
type requestBlock struct {
	Text string `json:"text,omitempty"`

	Thinking  *string `json:"thinking,omitempty"`
	Signature *string `json:"signature,omitempty"`
	Data      string  `json:"data,omitempty"` // of redacted thinking

	ID    string          `json:"id,omitempty"` // of a tool call
	Name  string          `json:"name,omitempty"`
	Input json.RawMessage `json:"input,omitempty"`

	ToolUseID string         `json:"tool_use_id,omitempty"` // of a tool result
	IsError   bool           `json:"is_error,omitempty"`
	Content   []requestBlock `json:"content,omitempty"`

	Source *source `json:"source,omitempty"` // of an image or document
	Title  string  `json:"title,omitempty"`  // of a document

	CacheControl *cacheControl `json:"cache_control,omitempty"`
	Type         string        `json:"type"`
}

// source is the content of a file, in base64.
type source struct {
	Data      []byte `json:"data"`
	MediaType string `json:"media_type"`
	Type      string `json:"type"`
}

type cacheControl struct {
	TTL  string `json:"ttl,omitempty"`
	Type string `json:"type"`
}

type toolParam struct {
	Name         string          `json:"name"`
	Description  string          `json:"description,omitempty"`
	InputSchema  json.RawMessage `json:"input_schema"`
	CacheControl *cacheControl   `json:"cache_control,omitempty"`
}

type toolChoice struct {
	Name                   string `json:"name,omitempty"`
	DisableParallelToolUse bool   `json:"disable_parallel_tool_use,omitempty"`
	Type                   string `json:"type"`
}

type thinkingConfig struct {
	BudgetTokens int64  `json:"budget_tokens,omitempty"`
	Type         string `json:"type"`
}

type outputConfig struct {
	Effort string        `json:"effort,omitempty"`
	Format *outputFormat `json:"format,omitempty"`
}

type outputFormat struct {
	Schema json.RawMessage `json:"schema"`
	Type   string          `json:"type"`
}

// message is a whole reply, or an error instead.
type message struct {
	ID          string          `json:"id"`
	Model       string          `json:"model"`
	Content     []replyBlock    `json:"content"` // nil if the server sent none
	StopReason  string          `json:"stop_reason"`
	StopDetails stopDetails     `json:"stop_details"`
	Usage       usage           `json:"usage"`
	Error       json.RawMessage `json:"error"`
}

type stopDetails struct {
	Explanation string `json:"explanation"`
}

// replyBlock is a content block of a reply, or the start of one in a stream.
type replyBlock struct {
	Type      string          `json:"type"`
	Text      textField       `json:"text"`
	Thinking  string          `json:"thinking"`
	Signature string          `json:"signature"`
	Data      string          `json:"data"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
}

// streamEvent is an event of a stream, of any type.
type streamEvent struct {
	Type         string     `json:"type"`
	Index        int64      `json:"index"`
	Message      message    `json:"message"`
	ContentBlock replyBlock `json:"content_block"`
	Delta        struct {
		Type        string      `json:"type"`
		Text        textField   `json:"text"`
		Thinking    string      `json:"thinking"`
		Signature   string      `json:"signature"`
		PartialJSON string      `json:"partial_json"`
		StopReason  string      `json:"stop_reason"`
		StopDetails stopDetails `json:"stop_details"`
	} `json:"delta"`
	Usage usage `json:"usage"`
}

// usage has the token counts of a reply.
type usage struct {
	Input        modelhttp.Count `json:"input_tokens"`
	CacheRead    modelhttp.Count `json:"cache_read_input_tokens"`
	CacheWritten modelhttp.Count `json:"cache_creation_input_tokens"`
	Output       modelhttp.Count `json:"output_tokens"`
	Details      struct {
		Thinking modelhttp.Count `json:"thinking_tokens"`
	} `json:"output_tokens_details"`
}

// update replaces the counts that a later event of the stream has.
func (u *usage) update(later usage) {
	for _, c := range []struct{ to, from *modelhttp.Count }{
		{&u.Input, &later.Input},
		{&u.CacheRead, &later.CacheRead},
		{&u.CacheWritten, &later.CacheWritten},
		{&u.Output, &later.Output},
		{&u.Details.Thinking, &later.Details.Thinking},
	} {
		if *c.from != 0 {
			*c.to = *c.from
		}
	}
}

// tokens returns the token counts, or zero ones if they are implausible. The API does not
// include tokens read from and written to its cache in the input tokens.
func (u *usage) tokens() model.Tokens {
	thinking := u.Details.Thinking
	if !modelhttp.Plausible(u.Input, u.CacheRead, u.CacheWritten, u.Output, thinking) {
		return model.Tokens{}
	}
	return model.Tokens{
		Input: int(u.Input + u.CacheRead + u.CacheWritten), Output: int(u.Output),
		Cached: int(u.CacheRead), CacheWrite: int(u.CacheWritten), Reasoning: int(min(thinking, u.Output)),
	}
}

// textField is a text. If it is no string, invalid has its JSON.
type textField struct {
	string
	invalid string
}

// UnmarshalJSON implements json.Unmarshaler.
func (t *textField) UnmarshalJSON(raw []byte) error {
	if json.Unmarshal(raw, &t.string) != nil {
		t.invalid = string(raw)
	}
	return nil
}

// hasInput reports whether a tool call has arguments when it starts. Those of most
// servers are empty at first, and follow in parts.
func (b *replyBlock) hasInput() bool {
	return strings.Trim(string(b.Input), "{} \n") != "" && string(b.Input) != "null"
}
