package http_test

import (
	"bytes"
	"encoding/json"
	"io"
	nethttp "net/http"
	"net/http/httptest"
	"testing"

	"github.com/pexctl/pex/engine/goldentest"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/providers/http"
	"github.com/pexctl/pex/providers/modelhttp/modelhttptest"
)

// servingWith starts a server for the duration of a test.
func servingWith(t testing.TB, h nethttp.Handler) (base string, s *httptest.Server) {
	t.Helper()
	s = httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL, s
}

// everything returns a request that uses every field.
func everything() *model.Request {
	zero, p, seed := 0.0, 0.5, int64(7)
	return &model.Request{
		Messages: []model.Message{
			{Role: model.System, Text: model.Text{"Be brief."}},
			{Role: model.User, Text: model.Text{"Compare <both>."}},
			{Role: model.Assistant, Text: model.Text{"I look."}, Calls: modelhttptest.Calls("c1", "find", `{"q":"moss"}`, "c2", "clock", "")},
			{Role: model.ToolRole, CallID: "c1", Tool: "find", Text: model.Text{"green"}},
			{Role: model.ToolRole, CallID: "c2", Text: model.Text{"broken"}, IsError: true},
			{Role: model.User, Text: model.Text{"And now?"}},
		},
		Tools: []model.ToolDef{
			{Name: "find", Description: "Finds plants.", Input: json.RawMessage(`{"type":"object","properties":{"q":{"type":"string"},"n":{"type":"integer"}},"additionalProperties":false}`)},
			{Name: "clock"},
		},
		Schema: &model.ReplySchema{Name: "the plan", Schema: json.RawMessage(`{"type":"object","properties":{"b":{"type":"string"},"a":{"type":"string"}}}`)},
		Params: model.Params{Temperature: &zero, TopP: &p, Seed: &seed, MaxOutputTokens: 50, Stop: []string{"END"}},
	}
}

// body returns the indented body that a model sends for a request.
func body(t *testing.T, c http.Config, name string, req *model.Request) string {
	t.Helper()
	var out bytes.Buffer
	base, _ := servingWith(t, nethttp.HandlerFunc(func(_ nethttp.ResponseWriter, r *nethttp.Request) {
		raw, _ := io.ReadAll(r.Body)
		if err := json.Indent(&out, raw, "", "  "); err != nil {
			t.Error(err)
		}
	}))
	// The answer is empty, which is no reply: what was asked is what counts.
	_, _ = at(t, base, c, model.Settings{Model: name}).Generate(t.Context(), req, nil)
	return out.String() + "\n"
}

func TestRequests(t *testing.T) {
	for name, row := range map[string]struct{ llm, model string }{
		"chat":     {"openai/v1/chat/completions", "m-1"},
		"converse": {"bedrock/converse/claude", "anthropic.claude-sonnet-4-5"},
		"deepseek": {"bedrock/converse/deepseek_r1", "us.deepseek.r1-v1:0"},
		"gemini":   {"gemini/v1beta/generatecontent", "gemini-2.5-flash"},
		"gemini_3": {"gemini/v1beta/generatecontent", "gemini-3-pro-preview"},
	} {
		t.Run(name, func(t *testing.T) {
			goldentest.File(t, "request/"+name+".json", body(t, of(row.llm), row.model, everything()))
		})
	}
}

// The opaque data of a call is sent back to the model that it came from.
func TestThoughtsAreSentBack(t *testing.T) {
	converse := `{"converse_thoughts":{"model":"m-1","blocks":[{"reasoningContent":{"reasoningText":{"text":"Hm.","signature":"c2ln"}}}]}}`
	gemini := `{"google_thought_signature":"c2lnbmVk"}`
	for _, row := range []struct {
		name, llm, model, opaque, want string
		sent                           bool
	}{
		{"converse", "bedrock/converse/claude", "m-1", converse, `"signature": "c2ln"`, true},
		{"converse, another model", "bedrock/converse/claude", "m-2", converse, `"signature"`, false},
		{"converse, another provider's", "bedrock/converse/claude", "m-1", gemini, `"signature"`, false},
		{"gemini", "gemini/v1beta/generatecontent", "gemini-2.5-flash", gemini, `"thoughtSignature": "c2lnbmVk"`, true},
		{"gemini 3", "gemini/v1beta/generatecontent", "gemini-3-pro", gemini, `"thoughtSignature": "c2lnbmVk"`, true},
		{"gemini 3, another provider's", "gemini/v1beta/generatecontent", "gemini-3-pro", converse, `"thoughtSignature": "skip_thought_signature_validator"`, true},
		{"gemini 2, another provider's", "gemini/v1beta/generatecontent", "gemini-2.5-pro", converse, `"thoughtSignature"`, false},
		{"chat", "openai/v1/chat/completions", "m-1", gemini, `ignature`, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			req := everything()
			req.Messages[2].Calls[0].Opaque = json.RawMessage(row.opaque)
			if got := body(t, of(row.llm), row.model, req); bytes.Contains([]byte(got), []byte(row.want)) != row.sent {
				t.Errorf("sent %s", got)
			}
		})
	}
}

func TestOutputLimitNameOfOpenAI(t *testing.T) {
	for url, want := range map[string]string{"https://api.openai.com/v1": "max_completion_tokens", "http://host/v1": "max_tokens"} {
		c := of("openai/v1/chat/completions")
		m, err := http.New(&c, model.Settings{Model: "m", BaseURL: url, APIKey: "sk-1234"}, modelhttptest.DisableWaits)
		if err != nil {
			t.Fatal(err)
		}
		if got := http.BodyOf(t, m, everything()); got[want] != 50.0 {
			t.Errorf("%s: %v", url, got)
		}
	}
}

// The tools of a conversation with calls must be declared even if none may be called any more.
func TestConverseDeclaresCalledTools(t *testing.T) {
	req := everything()
	req.Tools, req.Schema = nil, nil
	goldentest.File(t, "request/converse_without_tools.json", body(t, of("bedrock/converse/claude"), "m-1", req))
}
