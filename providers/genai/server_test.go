package genai_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/pexctl/pex/engine/enginetest"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/providers/genai"
	"github.com/pexctl/pex/providers/modelhttp/modelhttptest"
)

// body is the body of a request.
type body struct {
	Contents          []content
	SystemInstruction content
	Tools             []struct {
		FunctionDeclarations []struct {
			Name, Description    string
			ParametersJSONSchema json.RawMessage `json:"parametersJsonSchema"`
		}
	}
	GenerationConfig struct {
		Temperature        *float64
		TopP               *float64
		Seed               *int64
		MaxOutputTokens    int
		StopSequences      []string
		ResponseMimeType   string
		ResponseJSONSchema json.RawMessage `json:"responseJsonSchema"`
	}
}

type content struct {
	Role  string `json:"role,omitempty"`
	Parts []part `json:"parts"`
}

type part struct {
	Text             string    `json:"text,omitempty"`
	Thought          bool      `json:"thought,omitempty"`
	ThoughtSignature string    `json:"thoughtSignature,omitempty"`
	FunctionCall     *call     `json:"functionCall,omitempty"`
	FunctionResponse *response `json:"functionResponse,omitempty"`
}

type call struct {
	ID   string          `json:"id,omitempty"`
	Name string          `json:"name"`
	Args json.RawMessage `json:"args,omitempty"`
}

type response struct {
	ID, Name string
	Response struct{ Output, Error string }
}

// at builds a model of a server, without waits between attempts.
func at(t testing.TB, base string, c genai.Config, set model.Settings) model.Model {
	t.Helper()
	set.BaseURL = base
	m, err := genai.New(&c, set, modelhttptest.DisableWaits)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func defaults() genai.Config { return *genai.GoogleAI.Config().(*genai.Config) }

func TestConformance(t *testing.T) {
	enginetest.ModelSuite(t, func(t *testing.T, script *enginetest.ModelScript, set model.Settings) model.Model {
		return at(t, modelhttptest.Serve(t, script, protocol)+"/v1beta", defaults(), set)
	}, "refusal") // the API does not distinguish a refusal from other text
}

var asks = regexp.MustCompile(`^/v1beta/models/([^/:]+):(generateContent|streamGenerateContent)$`)

// protocol is the Gemini API. It streams text by words, and each call complete, so calls cannot be interleaved.
var protocol = modelhttptest.Protocol{
	ParseRequest: func(t *testing.T, r *http.Request, raw []byte) (a enginetest.ReceivedRequest, ok bool) {
		var b body
		path := asks.FindStringSubmatch(r.URL.Path)
		if err := json.Unmarshal(raw, &b); err != nil || path == nil || r.Header.Get("X-Goog-Api-Key") == "" {
			return a, false
		}
		streamed := path[2] == "streamGenerateContent"
		if streamed != (r.URL.Query().Get("alt") == "sse") {
			t.Errorf("request to %s", r.URL)
		}
		a = b.received()
		a.Streamed, a.Params.Model = streamed, path[1]
		return a, true
	},
	ErrorBody: func(h http.Header, x enginetest.Response, a enginetest.ReceivedRequest) any {
		h.Set("X-Request-Id", x.RequestID)
		var out any = map[string]any{"error": map[string]any{"code": x.Status, "message": x.Message}}
		if a.Streamed {
			out = []any{out}
		}
		return out
	},
	ReplyBody: func(_ http.Header, x enginetest.Response) any {
		parts := []part{{Text: x.Reply.Text}}
		for _, c := range x.Reply.Calls {
			parts = append(parts, part{FunctionCall: &call{c.ID, c.Name, c.Args}})
		}
		return json.RawMessage(piece(x, finish(x.Reply.Stop), usage(x.Reply.Usage), parts...))
	},
	Stream: func(h http.Header, x enginetest.Response) (out [][]byte) {
		h.Set("Content-Type", "text/event-stream")
		event := func(stop string, u map[string]int, p part) {
			out = append(out, fmt.Appendf(nil, "data: %s\r\n\r\n", piece(x, stop, u, p)))
		}
		for _, word := range strings.SplitAfter(x.Reply.Text, " ") {
			event("", map[string]int{"promptTokenCount": x.Reply.Usage.Input}, part{Text: word})
		}
		for _, c := range x.Reply.Calls {
			event("", nil, part{FunctionCall: &call{c.ID, c.Name, c.Args}})
		}
		event(finish(x.Reply.Stop), usage(x.Reply.Usage), part{})
		return out
	},
}

const oneCall = "Call at most one function at a time."

// received converts a request to the engine's terms. The limit of one call is in the instruction, since the API has no
// field for it.
func (b body) received() enginetest.ReceivedRequest {
	var out enginetest.ReceivedRequest
	g := b.GenerationConfig
	out.Params = model.Params{Temperature: g.Temperature, TopP: g.TopP, Seed: g.Seed, MaxOutputTokens: g.MaxOutputTokens, Stop: g.StopSequences}
	if g.ResponseMimeType == "application/json" {
		out.Schema = &model.ReplySchema{Name: "plan", Schema: g.ResponseJSONSchema} // the protocol has no field for the name
	}
	for _, t := range b.Tools {
		for _, f := range t.FunctionDeclarations {
			out.Tools = append(out.Tools, model.ToolDef{Name: f.Name, Description: f.Description, Input: f.ParametersJSONSchema})
		}
	}
	system := slices.DeleteFunc(b.SystemInstruction.Parts, func(p part) bool { return p.Text == oneCall })
	out.ParallelTools = len(out.Tools) > 0 && len(system) == len(b.SystemInstruction.Parts)
	if len(system) > 0 {
		out.Messages = append(out.Messages, content{Parts: system}.messages(model.System)...)
	}
	for _, c := range b.Contents {
		out.Messages = append(out.Messages, c.messages(map[string]model.Role{"user": model.User, "model": model.Assistant}[c.Role])...)
	}
	return out
}

func (c content) messages(role model.Role) (out []model.Message) {
	one := model.Message{Role: role}
	for _, p := range c.Parts {
		switch {
		case p.FunctionResponse != nil:
			m := model.Message{Role: model.ToolRole, CallID: p.FunctionResponse.ID, Tool: p.FunctionResponse.Name}
			m.Text, m.IsError = model.Text{p.FunctionResponse.Response.Output}, p.FunctionResponse.Response.Error != ""
			out = append(out, m)
		case p.FunctionCall != nil:
			f := p.FunctionCall
			if len(f.Args) == 0 {
				f.Args = json.RawMessage(`{}`) // as the protocol requires
			}
			one.Calls = append(one.Calls, model.ToolCall{ID: f.ID, Name: f.Name, Args: f.Args})
		default:
			one.Text = append(one.Text, p.Text)
		}
	}
	if out != nil {
		return out
	}
	return []model.Message{one}
}

// finish returns the protocol's finish reason.
func finish(k model.StopReason) string {
	switch k {
	case model.MaxTokens:
		return "MAX_TOKENS"
	case model.ContentFiltered:
		return "SAFETY"
	case model.EndTurn, model.ToolUse, model.StopSequence, model.Guardrail, model.Refusal:
	}
	return "STOP"
}

func usage(u model.Tokens) map[string]int {
	if u.Total() == 0 {
		return nil
	}
	return map[string]int{
		"promptTokenCount": u.Input, "candidatesTokenCount": u.Output - u.Reasoning, "thoughtsTokenCount": u.Reasoning,
		"cachedContentTokenCount": u.Cached, "totalTokenCount": u.Total(),
	}
}

// piece returns a reply of the protocol, or a chunk of one.
func piece(x enginetest.Response, stop string, u map[string]int, parts ...part) []byte {
	c := map[string]any{"index": 0, "content": content{Role: "model", Parts: parts}}
	if stop != "" {
		c["finishReason"] = stop
	}
	out := map[string]any{"candidates": []any{c}, "modelVersion": x.Reply.Model, "responseId": x.Reply.ID}
	if u != nil {
		out["usageMetadata"] = u
	}
	text, err := json.Marshal(out)
	if err != nil {
		panic(err)
	}
	return text
}
