package openai

import (
	"bytes"
	"encoding/json"

	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/providers/modelhttp"
)

// chatRequest is the body of a chat completion request. Unset fields are not sent.
type chatRequest struct {
	Messages            []chatMessage   `json:"messages"`
	Model               string          `json:"model"`
	MaxCompletionTokens int             `json:"max_completion_tokens,omitempty"`
	MaxTokens           int             `json:"max_tokens,omitempty"`
	Seed                *int64          `json:"seed,omitempty"`
	RandomSeed          *int64          `json:"random_seed,omitempty"` // Mistral's name for seed
	SafePrompt          bool            `json:"safe_prompt,omitempty"` // Mistral only
	Temperature         *float64        `json:"temperature,omitempty"`
	TopP                *float64        `json:"top_p,omitempty"`
	ParallelToolCalls   *bool           `json:"parallel_tool_calls,omitempty"`
	ReasoningEffort     string          `json:"reasoning_effort,omitempty"`
	Stop                []string        `json:"stop,omitempty"`
	StreamOptions       *streamOptions  `json:"stream_options,omitempty"`
	ResponseFormat      *responseFormat `json:"response_format,omitempty"`
	Tools               []chatTool      `json:"tools,omitempty"`
	Stream              bool            `json:"stream,omitempty"`
}

type streamOptions struct {
	IncludeUsage bool `json:"include_usage"`
}

// chatMessage is a message of any role. Content is a *string, or a []contentPart for a message
// with files, or nil in assistant messages that only call tools; ToolCallID is set in tool
// messages only.
type chatMessage struct {
	Content    any               `json:"content,omitempty"`
	ToolCalls  []requestToolCall `json:"tool_calls,omitempty"`
	ToolCallID *string           `json:"tool_call_id,omitempty"`
	Role       model.Role        `json:"role"`
}

// contentPart is a part of a message with files.
type contentPart struct {
	Type     string    `json:"type"`
	Text     string    `json:"text,omitempty"`
	ImageURL *imageURL `json:"image_url,omitempty"`
	File     *filePart `json:"file,omitempty"`
}

type imageURL struct {
	URL string `json:"url"`
}

type filePart struct {
	Filename string `json:"filename"`
	FileData string `json:"file_data"`
}

type requestToolCall struct {
	ID       string       `json:"id"`
	Function functionCall `json:"function"`
	Type     string       `json:"type"`
}

// functionCall is a called function with its arguments as JSON text.
type functionCall struct {
	Arguments string `json:"arguments"`
	Name      string `json:"name"`
}

type chatTool struct {
	Function functionDefinition `json:"function"`
	Type     string             `json:"type"`
}

type functionDefinition struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters,omitempty"`
}

type responseFormat struct {
	JSONSchema *jsonSchemaFormat `json:"json_schema,omitempty"`
	Type       string            `json:"type"`
}

type jsonSchemaFormat struct {
	Name   string          `json:"name"`
	Strict bool            `json:"strict,omitempty"`
	Schema json.RawMessage `json:"schema"`
}

// embeddingRequest is the body of a request for vectors.
type embeddingRequest struct {
	Input          []string `json:"input"`
	Model          string   `json:"model"`
	EncodingFormat string   `json:"encoding_format"`
}

// completion is a whole reply, or a chunk of a streamed one, or an error instead.
type completion struct {
	ID      string          `json:"id"`
	Model   string          `json:"model"`
	Choices []choice        `json:"choices"`
	Usage   *usage          `json:"usage"`
	Error   json.RawMessage `json:"error"`
}

// failed reports whether the server sent an error instead of a reply.
func (c *completion) failed() bool { return len(c.Error) > 0 && string(c.Error) != "null" }

type choice struct {
	Index        int          `json:"index"`
	Message      replyMessage `json:"message"` // in a whole reply
	Delta        replyMessage `json:"delta"`   // in a chunk
	FinishReason string       `json:"finish_reason"`
	StopReason   stopSequence `json:"stop_reason"`
}

// replyMessage is the message of a reply, or a part of it in a chunk.
type replyMessage struct {
	Content          json.RawMessage `json:"content"` // a string, or a list of parts
	Refusal          string          `json:"refusal"`
	ReasoningContent string          `json:"reasoning_content"`
	Reasoning        string          `json:"reasoning"`
	ToolCalls        []replyToolCall `json:"tool_calls"`
}

// replyToolCall is a tool call of a reply, or a part of one in a chunk.
type replyToolCall struct {
	Index    *int64 `json:"index"` // in chunks; nil if the server does not count calls
	ID       string `json:"id"`
	Function struct {
		Name      string    `json:"name"`
		Arguments arguments `json:"arguments"`
	} `json:"function"`
}

// arguments is the JSON text of a tool call's arguments. Some servers send an object
// instead of the string that the protocol requires.
type arguments string

// UnmarshalJSON implements json.Unmarshaler.
func (a *arguments) UnmarshalJSON(raw []byte) error {
	var s string
	if bytes.HasPrefix(raw, []byte(`"`)) || string(raw) == "null" {
		err := json.Unmarshal(raw, &s)
		*a = arguments(s)
		return err
	}
	*a = arguments(raw)
	return nil
}

// stopSequence reports whether the field stop_reason names a stop sequence, as vLLM and
// others do. If the model stopped at a token, it is the token's number.
type stopSequence bool

// UnmarshalJSON implements json.Unmarshaler.
func (s *stopSequence) UnmarshalJSON(raw []byte) error {
	*s = len(raw) > len(`""`) && raw[0] == '"'
	return nil
}

// usage has the token counts of a reply.
type usage struct {
	PromptTokens         modelhttp.Count `json:"prompt_tokens"`
	CompletionTokens     modelhttp.Count `json:"completion_tokens"`
	TotalTokens          modelhttp.Count `json:"total_tokens"`
	PromptCacheHitTokens modelhttp.Count `json:"prompt_cache_hit_tokens"` // DeepSeek's name for cached_tokens
	PromptTokensDetails  struct {
		CachedTokens modelhttp.Count `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
	CompletionTokensDetails struct {
		ReasoningTokens modelhttp.Count `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
}

// decode reads a completion. Fields of an unexpected type are left empty.
func decode(raw []byte) (*completion, error) {
	var c completion
	if err := json.Unmarshal(raw, &c); err != nil && !modelhttp.IsTypeError(err) {
		return nil, err
	}
	return &c, nil
}
