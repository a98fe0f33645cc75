package langchain_test

import (
	"net/http"
	"testing"

	"github.com/pexctl/pex/engine/enginetest"
	"github.com/pexctl/pex/engine/model"
)

// textOnly are the cases that no backend supports: tools and refusals. Some cases of "stop reasons" and "usage" also
// need tools, a cache or reasoning; TestReplies covers the rest.
var textOnly = []string{"tools", "conversation", "empty messages", "call ids", "streamed calls", "refusal", "stop reasons"}

func without(more ...string) []string { return append(more, textOnly...) }

// Qianfan's replies do not name the model ("text"), and it has no seed ("parameters").
func TestConformanceOfErnie(t *testing.T) {
	p := ernie()
	p.key = func(r *http.Request) string { return r.URL.Query().Get("access_token") }
	conforms(t, "ernie", p, without("text", "streamed text", "usage", "parameters")...)
}

// chatRequest is a request with messages, with the field names of most backends.
type chatRequest struct {
	Model    string
	Messages []struct {
		Role    model.Role
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

func chatAsked(t *testing.T, raw []byte) enginetest.ReceivedRequest {
	var b chatRequest
	read(t, raw, &b)
	a := enginetest.ReceivedRequest{Streamed: b.Stream}
	a.Params = model.Params{
		Model: b.Model, Temperature: b.Temperature, TopP: b.TopP, Seed: b.Seed,
		MaxOutputTokens: b.MaxTokens + b.MaxOutput + b.NPredict, Stop: append(b.Stop, b.Stopping...),
	}
	if b.System != nil {
		addTexts(t, &a, model.System, *b.System)
	}
	for _, m := range b.Messages {
		addTexts(t, &a, m.Role, m.Content)
	}
	return a
}

func ernie() protocol {
	return protocol{
		path: "/", parseRequest: chatAsked,
		answer: func(r model.Reply) any {
			return object("id", r.ID, "result", r.Text, "is_truncated", r.Stop == model.MaxTokens, "finish_reason", "normal",
				"usage", counts(r.Usage, "prompt_tokens", "completion_tokens"))
		},
	}
}
