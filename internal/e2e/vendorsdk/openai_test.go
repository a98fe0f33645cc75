package vendorsdk_test

import (
	"encoding/json"
	"testing"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/shared"

	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/internal/e2e"
	"github.com/pexctl/pex/providers/modelhttp"
	"github.com/pexctl/pex/providers/openai"
)

const completion = `{"choices": [{"message": {"content": "x"}}]}`

func openaiModel(base string, change func(*openai.Config)) (model.Model, error) {
	c := openai.OpenAI.Config().(*openai.Config)
	change(c)
	return openai.Build(c, model.Settings{Model: "gpt-4.1-mini", BaseURL: base, APIKey: "sk-1234"})
}

func openaiClient(base string) sdk.Client {
	return sdk.NewClient(option.WithBaseURL(base+"/"), option.WithAPIKey("sk-1234"), option.WithMaxRetries(0))
}

func TestChatRequestsAreThoseOfTheSDK(t *testing.T) {
	current := false
	for how, change := range map[string]func(*openai.Config){
		"defaults": func(*openai.Config) {},
		"reasoning": func(c *openai.Config) {
			c.ReasoningEffort, c.LegacyMaxTokens = "low", &current
		},
		"JSON mode": func(c *openai.Config) { c.StructuredOutput = "json_object" },
	} {
		for name, req := range e2e.Requests() {
			for _, streamed := range []bool{false, true} {
				t.Run(how+"/"+name, func(t *testing.T) {
					same(t, completion, func(base string) error {
						c := openaiClient(base)
						p := chatParams(t, req, streamed, how)
						if !streamed {
							_, err := c.Chat.Completions.New(t.Context(), p)
							return err
						}
						events := c.Chat.Completions.NewStreaming(t.Context(), p)
						for events.Next() {
							t.Log(events.Current())
						}
						return events.Err()
					}, func(base string) error {
						m, err := openaiModel(base, change)
						if err == nil {
							_, err = m.Generate(t.Context(), req, streaming(streamed))
						}
						return err
					})
				})
			}
		}
	}
}

// chatParams writes a request in the SDK's terms.
func chatParams(t *testing.T, req *model.Request, streamed bool, how string) sdk.ChatCompletionNewParams {
	t.Helper()
	p := sdk.ChatCompletionNewParams{
		Model: "gpt-4.1-mini",
		Stop:  sdk.ChatCompletionNewParamsStopUnion{OfStringArray: req.Params.Stop},
	}
	if v := req.Params.Temperature; v != nil {
		p.Temperature = param.NewOpt(*v)
	}
	if v := req.Params.TopP; v != nil {
		p.TopP = param.NewOpt(*v)
	}
	if v := req.Params.Seed; v != nil {
		p.Seed = param.NewOpt(*v)
	}
	if n := int64(req.Params.MaxOutputTokens); n > 0 && how == "reasoning" {
		p.MaxCompletionTokens = param.NewOpt(n)
	} else if n > 0 {
		p.MaxTokens = param.NewOpt(n)
	}
	if how == "reasoning" {
		p.ReasoningEffort = shared.ReasoningEffortLow
	}
	if streamed {
		p.StreamOptions.IncludeUsage = param.NewOpt(true)
	}
	for _, m := range req.Messages {
		p.Messages = append(p.Messages, chatMessage(m))
	}
	for _, tool := range req.Tools {
		f := shared.FunctionDefinitionParam{Name: tool.Name, Parameters: fields(t, tool.Input)}
		if tool.Description != "" {
			f.Description = param.NewOpt(tool.Description)
		}
		p.Tools = append(p.Tools, sdk.ChatCompletionFunctionTool(f))
	}
	if len(req.Tools) > 0 && !req.ParallelTools {
		p.ParallelToolCalls = param.NewOpt(false)
	}
	if s := req.Schema; s != nil && how == "JSON mode" {
		p.ResponseFormat.OfJSONObject = &shared.ResponseFormatJSONObjectParam{}
	} else if s != nil {
		f := shared.ResponseFormatJSONSchemaJSONSchemaParam{Name: modelhttp.SchemaName(s.Name), Schema: s.Schema}
		if fields(t, s.Schema)["additionalProperties"] == false {
			f.Strict = param.NewOpt(true)
		}
		p.ResponseFormat.OfJSONSchema = &shared.ResponseFormatJSONSchemaParam{JSONSchema: f}
	}
	return p
}

func chatMessage(m model.Message) sdk.ChatCompletionMessageParamUnion {
	text := m.Text.String()
	switch m.Role {
	case model.System:
		return sdk.SystemMessage(text)
	case model.ToolRole:
		return sdk.ToolMessage(text, m.CallID)
	case model.User:
		return sdk.UserMessage(text)
	}
	out := &sdk.ChatCompletionAssistantMessageParam{}
	if text != "" || len(m.Calls) == 0 {
		out.Content.OfString = param.NewOpt(text)
	}
	for _, c := range m.Calls {
		out.ToolCalls = append(out.ToolCalls, sdk.ChatCompletionMessageToolCallUnionParam{
			OfFunction: &sdk.ChatCompletionMessageFunctionToolCallParam{
				ID:       c.ID,
				Function: sdk.ChatCompletionMessageFunctionToolCallFunctionParam{Name: c.Name, Arguments: string(modelhttp.Object(c.Args))},
			},
		})
	}
	return sdk.ChatCompletionMessageParamUnion{OfAssistant: out}
}

func TestEmbeddingRequestsAreThoseOfTheSDK(t *testing.T) {
	texts := []string{"moss", "<fern>"}
	same(t, `{"data": [{"embedding": [1]}, {"embedding": [2]}]}`, func(base string) error {
		c := openaiClient(base)
		_, err := c.Embeddings.New(t.Context(), sdk.EmbeddingNewParams{
			Model: "gpt-4.1-mini", Input: sdk.EmbeddingNewParamsInputUnion{OfArrayOfStrings: texts},
			EncodingFormat: sdk.EmbeddingNewParamsEncodingFormatFloat,
		})
		return err
	}, func(base string) error {
		m, err := openaiModel(base, func(*openai.Config) {})
		if err == nil {
			_, _, err = m.(model.Embedder).Embed(t.Context(), texts)
		}
		return err
	})
}

// Both read the same from a reply.
func TestCompletionsAreReadAsByTheSDK(t *testing.T) {
	for name, body := range map[string]string{
		"text":        `{"id": "c", "model": "m-1", "choices": [{"index": 0, "message": {"role": "assistant", "content": "a\u00e9\n\"b\""}, "finish_reason": "stop"}], "usage": {"prompt_tokens": 19, "completion_tokens": 4, "total_tokens": 23, "prompt_tokens_details": {"cached_tokens": 8}, "completion_tokens_details": {"reasoning_tokens": 2}}}`,
		"calls":       `{"id": "c", "model": "m-1", "choices": [{"index": 0, "message": {"role": "assistant", "content": null, "tool_calls": [{"id": "a", "type": "function", "function": {"name": "f", "arguments": "{\"x\": 1.50}"}}, {"id": "b", "type": "function", "function": {"name": "g", "arguments": "{}"}}]}, "finish_reason": "tool_calls"}], "usage": {"prompt_tokens": 19, "completion_tokens": 4, "total_tokens": 23}}`,
		"other types": `{"id": "c", "model": "m-1", "created": "today", "service_tier": 7, "choices": [{"index": 0, "logprobs": [], "message": {"role": "assistant", "content": "x", "annotations": {}}, "finish_reason": "stop"}], "usage": {"prompt_tokens": 19, "completion_tokens": 4, "total_tokens": 23}}`,
	} {
		t.Run(name, func(t *testing.T) {
			var want sdk.ChatCompletion
			if err := json.Unmarshal([]byte(body), &want); err != nil {
				t.Fatal(err)
			}
			sentBody(t, body, func(base string) error {
				m, err := openaiModel(base, func(*openai.Config) {})
				if err != nil {
					return err
				}
				got, err := m.Generate(t.Context(), e2e.Requests()["minimal"], nil)
				if err != nil {
					return err
				}
				u, said := want.Usage, want.Choices[0].Message
				usage := model.Tokens{
					Input: int(u.PromptTokens), Output: int(u.CompletionTokens), Cached: int(u.PromptTokensDetails.CachedTokens),
					Reasoning: int(u.CompletionTokensDetails.ReasoningTokens),
				}
				if got.ID != want.ID || got.Model != want.Model || got.Text != said.Content || got.Usage != usage || len(got.Calls) != len(said.ToolCalls) {
					t.Errorf("reply %+v\nSDK   %+v", got, want)
				}
				for i, c := range said.ToolCalls {
					if g := got.Calls[i]; g.ID != c.ID || g.Name != c.Function.Name || string(g.Args) != c.Function.Arguments {
						t.Errorf("call %+v\nSDK  %+v", g, c)
					}
				}
				return nil
			})
		})
	}
}
