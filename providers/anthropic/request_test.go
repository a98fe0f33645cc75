package anthropic_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/goldentest"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/providers/anthropic"
	"github.com/pexctl/pex/providers/modelhttp/modelhttptest"
)

// sent makes one call and returns the body and header that the server received.
func sent(t *testing.T, c anthropic.Config, set model.Settings, req *model.Request, stream func(model.Delta)) ([]byte, http.Header) {
	t.Helper()
	var raw []byte
	var header http.Header
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header = r.Header
		raw, _ = io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"content": [{"type": "text", "text": "x"}]}`)
	}))
	defer s.Close()
	if _, err := at(t, s.URL, c, set).Generate(t.Context(), req, stream); err != nil {
		t.Fatal(err)
	}
	return raw, header
}

// fields decodes a body.
func fields(t *testing.T, raw []byte) map[string]any {
	t.Helper()
	var out map[string]any
	if err := json.Unmarshal(raw, &out); err != nil {
		t.Fatalf("body %s: %v", raw, err)
	}
	return out
}

func say(role model.Role, text ...string) model.Message {
	return model.Message{Role: role, Text: text}
}

// plans is a schema that the API can enforce, after closing its objects.
const plans = `{"type":"object","properties":{"steps":{"type":"array","maxItems":100,"items":{"type":"string"}},"result":{"type":"string"}},"required":["steps","result"]}`

// anything is a schema that the API cannot enforce.
const anything = `{"type":"object","properties":{"args":{"type":"object"}}}`

// loop returns a request in a tool loop.
func loop() *model.Request {
	return &model.Request{
		Messages: []model.Message{
			say(model.System, "Be ", "brief."), say(model.System, "Be kind."),
			say(model.User, "Compare <moss> & fern."),
			{Role: model.Assistant, Text: model.Text{"I look at both."}, Calls: modelhttptest.Calls("toolu_1", "find", `{"q":"moss"}`, "functions.find:0", "find", `{"q":"fe`)},
			{Role: model.ToolRole, CallID: "toolu_1", Tool: "find", Text: model.Text{"green"}},
			{Role: model.ToolRole, CallID: "functions.find:0", Tool: "find", IsError: true},
			say(model.User, "Go on."),
		},
		Tools: []model.ToolDef{
			{Name: "find", Description: "Finds plants.", Input: json.RawMessage(`{"type":"object","properties":{"q":{"type":"string"},"a":{"type":"integer"}},"required":["q"]}`)},
			{Name: "now"},
			{Name: "odd", Input: json.RawMessage(`{"properties":{"x":{}}}`)},
		},
	}
}

func TestRequestBodies(t *testing.T) {
	zero, half, seed := 0.0, 0.5, int64(7)
	long := *question
	long.Params = model.Params{Model: "claude-haiku-4-5", Temperature: &zero, TopP: &half, Seed: &seed, MaxOutputTokens: 99, Stop: []string{"END", "\n\n"}}
	plan := *question
	plan.Schema = &model.ReplySchema{Name: "plan/1", Schema: json.RawMessage(plans)}
	open := *question
	open.Messages = []model.Message{say(model.System, "Be brief."), say(model.User, "How many?")}
	open.Schema = &model.ReplySchema{Name: "open", Schema: json.RawMessage(anything)}
	both := *loop()
	both.ParallelTools, both.Schema = true, plan.Schema
	results := *loop()
	results.Messages = results.Messages[:6]
	tests := []struct {
		name   string
		change func(*anthropic.Config)
		req    *model.Request
	}{
		{"plain", nil, question},
		{"parameters", nil, &long},
		{"loop", nil, loop()},
		{"cached_loop", func(c *anthropic.Config) { c.Cache, c.CacheTTL = true, "1h" }, loop()},
		{"cached_results", func(c *anthropic.Config) { c.Cache = true }, &results},
		{"cached_plain", func(c *anthropic.Config) { c.Cache = true }, &open},
		{"schema", nil, &plan},
		{"schema_beside_tools", func(c *anthropic.Config) { c.Effort = "low" }, &both},
		{"schema_that_cannot_be_held_to", nil, &open},
		{"schema_by_tool", func(c *anthropic.Config) { c.StructuredOutput = "tool" }, &open},
		{"schema_by_prompt", func(c *anthropic.Config) { c.StructuredOutput = "prompt" }, &plan},
		{"schema_not_at_all", func(c *anthropic.Config) { c.StructuredOutput = "none" }, &plan},
		{"schema_by_tool_while_thinking", func(c *anthropic.Config) { c.StructuredOutput, c.Thinking = "tool", "adaptive" }, &open},
		{"budget", func(c *anthropic.Config) { c.ThinkingBudget = 2048 }, question},
		{"disabled", func(c *anthropic.Config) { c.Thinking = "disabled" }, question},
		{"between_tools", func(c *anthropic.Config) { c.Thinking = "between_tools" }, question},
		{"adaptive", func(c *anthropic.Config) { c.Thinking, c.Effort = "adaptive", "xhigh" }, &long},
		{"only_system", nil, &model.Request{Messages: []model.Message{say(model.System, "Say something.")}}},
		{"nothing", nil, &model.Request{}},
		{"system_in_the_middle", nil, &model.Request{Messages: []model.Message{
			say(model.User, "Hello."), say(model.Assistant, " "), say(model.System, "Be brief."), say(model.User, ""),
		}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := defaults()
			if tt.change != nil {
				tt.change(&c)
			}
			raw, _ := sent(t, c, model.Settings{Model: "claude-sonnet-4-6"}, tt.req, nil)
			var out bytes.Buffer
			if err := json.Indent(&out, raw, "", "  "); err != nil {
				t.Fatal(err)
			}
			goldentest.File(t, "request/"+tt.name+".json", out.String()+"\n")
		})
	}
}

func TestOptionsAreSent(t *testing.T) {
	c := defaults()
	c.Headers = map[string]component.Template{"X-Team": {Text: "moss"}, "anthropic-beta": {Text: "fast-mode-2026-02-01"}}
	c.ExtraBody = map[string]any{"top_k": 5, "odd.name": map[string]any{"a": false}, "model": "other"}
	req := *question
	req.Key = "run-1/plan.1"
	raw, header := sent(t, c, model.Settings{Model: "m", UserAgent: "pex/9", APIKey: "sk-ant"}, &req, func(model.Delta) {})
	got := fields(t, raw)
	for name, want := range map[string]any{"top_k": 5.0, "model": "other", "stream": true, "odd.name": map[string]any{"a": false}} {
		if diff := cmp.Diff(want, got[name]); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	for name, want := range map[string]string{
		"X-Team": "moss", "Anthropic-Beta": "fast-mode-2026-02-01", "User-Agent": "pex/9", "X-Api-Key": "sk-ant",
		"Anthropic-Version": "2023-06-01", "Authorization": "", "Idempotency-Key": "",
	} {
		if header.Get(name) != want {
			t.Errorf("%s: %q, want %q", name, header.Get(name), want)
		}
	}
}

func TestSecretsInHeadersComeFromTheEnvironmentAndAreRedacted(t *testing.T) {
	t.Setenv("PEX_TEST_GATEWAY_KEY", "gateway-secret")
	var header component.Template
	header.Bind(func(l component.Lookup) []string {
		v, _ := l("env", "PEX_TEST_GATEWAY_KEY")
		if _, ok := l("parameters", "PEX_TEST_GATEWAY_KEY"); ok {
			t.Error("a parameter was found in the environment")
		}
		return []string{"Bearer ", v.(string)}
	})
	c := defaults()
	c.Headers = map[string]component.Template{"Authorization": header}
	if _, seen := sent(t, c, model.Settings{Env: os.Getenv}, question, nil); seen.Get("Authorization") != "Bearer gateway-secret" {
		t.Errorf("sent %q", seen.Get("Authorization"))
	}
	base, _ := refusing(t, http.StatusForbidden, `{"error": "gateway-secret is not allowed"}`)
	if _, err := at(t, base, c, model.Settings{Env: os.Getenv}).Generate(t.Context(), question, nil); err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("error %v", err)
	}
}

func TestVariablesOfTheSDKAreIgnored(t *testing.T) {
	for _, name := range []string{"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_PROFILE", "ANTHROPIC_WORKSPACE_ID", "ANTHROPIC_ORGANIZATION_ID"} {
		t.Setenv(name, "leaks-"+name)
	}
	t.Setenv("ANTHROPIC_CUSTOM_HEADERS", "X-Leak: leaks-header")
	t.Setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:1")
	_, header := sent(t, defaults(), model.Settings{}, question, nil)
	for name, values := range header {
		if strings.Contains(strings.Join(values, " "), "leaks-") {
			t.Errorf("%s: %v", name, values)
		}
	}
	for _, name := range []string{"X-Api-Key", "Authorization", "Traceparent"} {
		if v, ok := header[name]; ok {
			t.Errorf("header %s: %v", name, v)
		}
	}
}

func TestInvalidRequestIsNotSent(t *testing.T) {
	tests := []struct {
		name   string
		change func(*anthropic.Config)
		req    model.Request
		want   string
	}{
		{"tool schema", nil, model.Request{Tools: []model.ToolDef{{Name: "find", Input: json.RawMessage(`[`)}}}, "input schema of tool find"},
		{"reply schema", nil, model.Request{Schema: &model.ReplySchema{Name: "plan", Schema: json.RawMessage(`{`)}}, "reply schema plan is not valid JSON"},
		{
			"no room to think", func(c *anthropic.Config) { c.ThinkingBudget = 2048 },
			model.Request{Params: model.Params{MaxOutputTokens: 2048}},
			"max_output_tokens 2048 must be larger than thinking_budget 2048",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := defaults()
			if tt.change != nil {
				tt.change(&c)
			}
			_, err := at(t, "http://127.0.0.1:1", c, model.Settings{}).Generate(t.Context(), &tt.req, nil)
			var e *model.Error
			if !errors.As(err, &e) || e.Kind != model.BadRequest || !strings.Contains(e.Message, tt.want) {
				t.Errorf("error %v", err)
			}
		})
	}
}

func TestSettingsAreChecked(t *testing.T) {
	for _, base := range []string{"localhost:11434", "ftp://host/v1", "http://", "http://a b/", "://"} {
		if _, err := anthropic.Build(new(anthropic.Config), model.Settings{BaseURL: base}); err == nil || !strings.Contains(err.Error(), "/v1/messages is added") {
			t.Errorf("%s: %v", base, err)
		}
	}
	for want, c := range map[string]anthropic.Config{
		"mutually exclusive": {Thinking: "adaptive", ThinkingBudget: 2048},
		"needs cache: true":  {CacheTTL: "1h"},
	} {
		if _, err := anthropic.Build(&c, model.Settings{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

func TestBaseURLMayEndInV1(t *testing.T) {
	for _, end := range []string{"", "/", "/v1", "/v1/"} {
		var asked string
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			asked = r.URL.Path
			_, _ = io.WriteString(w, `{"content": []}`)
		}))
		if _, err := at(t, s.URL+"/anthropic"+end, defaults(), model.Settings{}).Generate(t.Context(), question, nil); err != nil || asked != "/anthropic/v1/messages" {
			t.Errorf("%q: asked %s, %v", end, asked, err)
		}
		s.Close()
	}
}

func TestMissingKeyIsReportedWithoutARequest(t *testing.T) {
	m, err := anthropic.Build(new(anthropic.Config), model.Settings{Model: "m", BaseURL: "https://api.anthropic.com/v1/"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = m.Generate(t.Context(), question, nil)
	var e *model.Error
	if !errors.As(err, &e) || e.Kind != model.AuthError || !strings.Contains(e.Message, "ANTHROPIC_API_KEY") {
		t.Errorf("error %v", err)
	}
}
