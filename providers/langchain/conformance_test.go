package langchain_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/enginetest"
)

// No backend has tools, nor a word for a refusal. Some of the cases of "stop
// reasons" and "usage" need tools, a cache or reasoning too: TestReplies has
// what is left of them.
var textOnly = []string{"tools", "conversation", "empty messages", "call ids", "streamed calls", "refusal", "stop reasons"}

func without(more ...string) []string { return append(more, textOnly...) }

func TestConformanceOfHuggingFace(t *testing.T) {
	conforms(t, "huggingface", huggingface(), without("streamed text")...)
}

// An answer of Workers AI names no model and no reply ("text", "streamed
// text"), counts neither cached nor reasoning tokens; there are no stop
// sequences ("parameters").
func TestConformanceOfCloudflare(t *testing.T) {
	conforms(t, "cloudflare", cloudflare(), without("text", "streamed text", "usage", "parameters")...)
}

// An answer of Qianfan names no model ("text"); there is no seed ("parameters").
func TestConformanceOfErnie(t *testing.T) {
	p := ernie()
	p.key = func(r *http.Request) string { return r.URL.Query().Get("access_token") }
	conforms(t, "ernie", p, without("text", "streamed text", "usage", "parameters")...)
}

// An answer of /completion has no id ("text", "streamed text").
func TestConformanceOfLlamafile(t *testing.T) {
	conforms(t, "llamafile", llamafile(), without("text", "streamed text", "usage")...)
}

// An answer of Maritaca's has no id ("text"); there is no seed ("parameters").
func TestConformanceOfMaritaca(t *testing.T) {
	p := maritaca()
	p.key = func(r *http.Request) string { return strings.TrimPrefix(r.Header.Get("Authorization"), "Key ") }
	conforms(t, "maritaca", p, without("text", "streamed text", "usage", "parameters")...)
}

// chatRequest is a request with messages, by the names that most backends have.
type chatRequest struct {
	Model    string
	Messages []struct {
		Role    engine.ChatRole
		Content string
	}
	System      *string
	Prompt      string
	Temperature *float64
	TopP        *float64 `json:"top_p"`
	Seed        *int64
	MaxTokens   int `json:"max_tokens"`
	MaxOutput   int `json:"max_output_tokens"`
	NPredict    int `json:"n_predict"`
	Stop        []string
	Stopping    []string `json:"stopping_tokens"`
	Stream      bool
}

func chatAsked(t *testing.T, raw []byte) enginetest.Asked {
	var b chatRequest
	read(t, raw, &b)
	a := enginetest.Asked{Streamed: b.Stream}
	a.Params = engine.Params{
		Model: b.Model, Temperature: b.Temperature, TopP: b.TopP, Seed: b.Seed,
		MaxOutputTokens: b.MaxTokens + b.MaxOutput + b.NPredict, Stop: append(b.Stop, b.Stopping...),
	}
	if b.System != nil {
		said(t, &a, engine.System, *b.System)
	}
	for _, m := range b.Messages {
		said(t, &a, m.Role, m.Content)
	}
	return a
}

func huggingface() protocol {
	return protocol{
		path: "/v1/chat/completions", asked: chatAsked,
		answer: func(r engine.Reply) any {
			u := counts(r.Usage, "prompt_tokens", "completion_tokens")
			if u != nil {
				u["prompt_tokens_details"] = object("cached_tokens", r.Usage.Cached)
				u["completion_tokens_details"] = object("reasoning_tokens", r.Usage.Reasoning)
			}
			finish := map[engine.StopKind]string{engine.MaxTokens: "length", engine.ContentFiltered: "content_filter"}[r.Stop]
			return object("id", r.ID, "model", r.Model, "usage", u, "choices", []any{
				object("index", 0, "message", object("role", "assistant", "content", r.Text), "finish_reason", finish),
			})
		},
	}
}

func cloudflare() protocol {
	return protocol{
		path: "/accounts/acc/ai/run/", asked: chatAsked,
		answer: func(r engine.Reply) any {
			return object("success", true, "errors", []any{}, "messages", []any{},
				"result", object("response", r.Text, "usage", counts(r.Usage, "prompt_tokens", "completion_tokens")))
		},
		events: func(r engine.Reply) []string {
			var out []string
			for _, word := range strings.SplitAfter(r.Text, " ") {
				out = append(out, line(object("response", word, "p", "abc")))
			}
			return append(out, line(object("response", "", "usage", counts(r.Usage, "prompt_tokens", "completion_tokens"))), "[DONE]")
		},
	}
}

func line(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(text)
}

func ernie() protocol {
	return protocol{
		path: "/", asked: chatAsked,
		answer: func(r engine.Reply) any {
			return object("id", r.ID, "result", r.Text, "is_truncated", r.Stop == engine.MaxTokens, "finish_reason", "normal",
				"usage", counts(r.Usage, "prompt_tokens", "completion_tokens"))
		},
	}
}

func maritaca() protocol {
	return protocol{
		path: "/chat/inference", asked: chatAsked,
		answer: func(r engine.Reply) any {
			return object("answer", r.Text, "model", r.Model, "usage", counts(r.Usage, "prompt_tokens", "completion_tokens"))
		},
	}
}

func llamafile() protocol {
	end := func(r engine.Reply, text string) map[string]any {
		out := object("content", text, "model", r.Model, "stop", true, "stopped_eos", r.Stop == engine.EndTurn, "stopped_limit", r.Stop == engine.MaxTokens)
		if r.Usage.Total() > 0 {
			out["tokens_evaluated"], out["tokens_predicted"] = r.Usage.Input, r.Usage.Output
		}
		return out
	}
	return protocol{
		path: "/completion",
		asked: func(t *testing.T, raw []byte) enginetest.Asked {
			var b chatRequest
			read(t, raw, &b)
			a := chatAsked(t, raw)
			said(t, &a, engine.User, b.Prompt)
			if _, schema, ok := strings.Cut(b.Prompt, `named "plan":`+"\n"); ok {
				schema, _, _ = strings.Cut(schema, " <</SYS>>")
				a.Schema = &engine.ReplySchema{Name: "plan", Schema: json.RawMessage(schema)}
			}
			return a
		},
		answer: func(r engine.Reply) any { return end(r, r.Text) },
		events: func(r engine.Reply) []string {
			var out []string
			for _, word := range strings.SplitAfter(r.Text, " ") {
				out = append(out, line(object("content", word, "stop", false)))
			}
			return append(out, line(end(r, "")))
		},
	}
}
