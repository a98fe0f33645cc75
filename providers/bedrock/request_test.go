package bedrock_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/pexctl/pex/engine/goldentest"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/providers/bedrock"
	"github.com/pexctl/pex/providers/modelhttp/modelhttptest"
)

const (
	oldClaude = "anthropic.claude-3-5-sonnet-20241022-v2:0"
	newClaude = "eu.anthropic.claude-sonnet-4-5-20250929-v1:0"
	nova      = "us.amazon.nova-pro-v1:0"
)

var question = modelhttptest.Question

const done = `{"output":{"message":{"role":"assistant","content":[{"text":"x"}]}},"stopReason":"end_turn"}`

// sent makes one call and returns the request that the server received.
func sent(t *testing.T, c bedrock.Config, set model.Settings, req *model.Request) (text []byte, request *http.Request) {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var err error
		if text, err = io.ReadAll(r.Body); err != nil {
			t.Error(err)
		}
		request = r
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, done)
	}))
	defer s.Close()
	if _, err := at(t, s.URL, c, set).Generate(t.Context(), req, nil); err != nil {
		t.Fatal(err)
	}
	return text, request
}

func say(role model.Role, text string) model.Message {
	return model.Message{Role: role, Text: model.Text{text}}
}

// loop returns a conversation within a step: calls were made and answered.
func loop(opaque string) *model.Request {
	return &model.Request{
		Messages: []model.Message{
			say(model.System, "Be brief."),
			say(model.User, "Compare."),
			{Role: model.Assistant, Text: model.Text{"I look."}, Calls: []model.ToolCall{
				{ID: "tooluse_1", Name: "find", Args: json.RawMessage(`{"q":"moss","n":12345678901234567890}`), Opaque: json.RawMessage(opaque)},
				{ID: "call with blanks", Name: "find", Args: json.RawMessage(`["fern"]`)},
			}},
			{Role: model.ToolRole, CallID: "tooluse_1", Tool: "find", Text: model.Text{"  "}},
			{Role: model.ToolRole, CallID: "call with blanks", Tool: "find", Text: model.Text{"arguments: not an object"}, IsError: true},
			say(model.User, "Go on."),
			say(model.User, " \n"),
		},
		Tools:         tools(),
		ParallelTools: true,
	}
}

func tools() []model.ToolDef {
	return []model.ToolDef{
		{Name: "find", Description: "Finds plants.", Input: json.RawMessage(`{"type":"object","required":["q"],"properties":{"q":{"type":"string"},"n":{"type":"integer"}}}`)},
		{Name: "clock"},
		{Name: "server__list", Input: json.RawMessage(`{"properties":{}}`)},
	}
}

func asking(s model.ReplySchema) *model.Request {
	r := *question
	r.Messages = append([]model.Message{say(model.System, "Be brief.")}, r.Messages...)
	r.Schema = &s
	return &r
}

var plan = model.ReplySchema{Name: "the plan/1", Schema: json.RawMessage(`{
	"type": "object",
	"properties": {"steps": {"type": "array", "maxItems": 9, "items": {"type": "string"}}, "result": {"type": ["string", "null"], "minLength": 1}},
	"required": ["steps", "result"]
}`)}

const thoughts = `{"bedrock":{"model":"` + newClaude + `","thoughts":[{"text":"Moss or fern?","signature":"c2ln"},{"redacted":"AAECAw=="}]}}`

func TestRequestsOnTheWire(t *testing.T) {
	zero, p, seed := 0.0, 0.7, int64(7)
	parameters := *question
	parameters.Params = model.Params{Temperature: &zero, TopP: &p, Seed: &seed, MaxOutputTokens: 99, Stop: []string{"END", "\n\n"}}
	one := loop("")
	one.ParallelTools = false
	bare := loop("")
	bare.Tools = nil
	tight := *question
	tight.Params.MaxOutputTokens, tight.Params.Temperature = 4000, &zero
	tests := []struct {
		name, model string
		change      func(*bedrock.Config)
		req         *model.Request
	}{
		{"nothing_set", nova, nil, question},
		{"parameters", nova, nil, &parameters},
		{"loop_nova", nova, nil, loop("")},
		{"loop_other_model", "meta.llama3-3-70b-instruct-v1:0", nil, loop(thoughts)},
		{"loop_without_tools", nova, nil, bare},
		{"one_call_at_a_time", newClaude, nil, one},
		{"one_call_at_a_time_old", oldClaude, nil, one},
		{"thinking", newClaude, func(c *bedrock.Config) { c.ThinkingBudget = 8000 }, &tight},
		{"thinking_kept", newClaude, func(c *bedrock.Config) { c.ThinkingBudget = 8000 }, loop(thoughts)},
		{"thinking_lost", newClaude, func(c *bedrock.Config) { c.ThinkingBudget = 8000 }, loop(`{"other":{}}`)},
		{"thinking_adaptive", newClaude, func(c *bedrock.Config) {
			c.Extra = map[string]any{"thinking": map[string]any{"type": "adaptive"}}
		}, loop("")},
		{"schema_native", newClaude, nil, asking(plan)},
		{"schema_instruction", nova, nil, asking(plan)},
		{"schema_tool", nova, func(c *bedrock.Config) { c.StructuredOutput = "tool" }, asking(plan)},
		{"schema_none", nova, func(c *bedrock.Config) { c.StructuredOutput = "none" }, asking(plan)},
		{"cache", newClaude, func(c *bedrock.Config) { c.Cache, c.CacheTTL = true, "1h" }, loop("")},
		{"cache_nova", nova, func(c *bedrock.Config) { c.Cache = true }, asking(plan)},
		{"options", "arn:aws:bedrock:eu-west-1:123456789012:application-inference-profile/a1b2", func(c *bedrock.Config) {
			c.BaseModel, c.ReasoningEffort, c.Guardrail, c.GuardrailVersion = newClaude, "high", "gr-1", "3"
			c.Latency, c.ServiceTier = "optimized", "flex"
			c.Extra = map[string]any{"top_k": 5, "tool_choice": map[string]any{"type": "auto"}}
		}, one},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := defaults()
			if tt.change != nil {
				tt.change(&c)
			}
			text, _ := sent(t, c, model.Settings{Model: tt.model}, tt.req)
			var b bytes.Buffer
			if err := json.Indent(&b, text, "", "  "); err != nil {
				t.Fatalf("%v: %s", err, text)
			}
			goldentest.File(t, "request/"+tt.name+".json", b.String()+"\n")
		})
	}
}

func TestModelIsInThePath(t *testing.T) {
	tests := []struct{ model, want string }{
		{nova, "/model/us.amazon.nova-pro-v1%3A0/converse"},
		{"arn:aws:bedrock:eu-west-1:1:inference-profile/x", "/model/arn%3Aaws%3Abedrock%3Aeu-west-1%3A1%3Ainference-profile%2Fx/converse"},
	}
	for _, tt := range tests {
		if _, r := sent(t, defaults(), model.Settings{Model: tt.model}, question); r.URL.EscapedPath() != tt.want {
			t.Errorf("requested %s, want %s", r.URL.EscapedPath(), tt.want)
		}
	}
	req := *question
	req.Params.Model = "other"
	if _, r := sent(t, defaults(), model.Settings{Model: nova}, &req); r.URL.Path != "/model/other/converse" {
		t.Errorf("requested %s", r.URL.Path)
	}
}

func TestInvalidRequestIsNotSent(t *testing.T) {
	tests := []struct {
		name string
		req  model.Request
		want string
	}{
		{"tool schema", model.Request{Messages: question.Messages, Tools: []model.ToolDef{{Name: "find", Input: json.RawMessage(`[`)}}}, "input schema of tool find"},
		{"not a schema", model.Request{Messages: question.Messages, Tools: []model.ToolDef{{Name: "find", Input: json.RawMessage(`["x"]`)}}}, "input schema of tool find"},
		{"reply schema", model.Request{Messages: question.Messages, Schema: &model.ReplySchema{Name: "plan", Schema: json.RawMessage(`{`)}}, "reply schema plan is not valid JSON"},
		{"no text", model.Request{Messages: []model.Message{say(model.System, "Be brief."), say(model.User, " ")}}, "no message"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := at(t, "http://127.0.0.1:1", defaults(), model.Settings{}).Generate(t.Context(), &tt.req, nil)
			var e *model.Error
			if !errors.As(err, &e) || e.Kind != model.BadRequest || !strings.Contains(e.Message, tt.want) {
				t.Errorf("error %v", err)
			}
		})
	}
}

func TestSettingsAreChecked(t *testing.T) {
	for _, base := range []string{"localhost:4566", "ftp://host", "http://", "http://a b/", "://"} {
		if _, err := bedrock.Build(new(bedrock.Config), model.Settings{BaseURL: base}); err == nil || !strings.Contains(err.Error(), "https://bedrock-runtime") {
			t.Errorf("%s: %v", base, err)
		}
	}
	c := defaults()
	c.Profile = "work"
	if _, err := bedrock.Build(&c, model.Settings{}); err == nil || !strings.Contains(err.Error(), "credentials: default") {
		t.Errorf("a profile without files: %v", err)
	}
}

// The rules are tested in schemasubset.
func TestUnsupportedSchemaUsesInstruction(t *testing.T) {
	tests := []struct {
		name, schema, want string // "" = by an instruction
	}{
		{"supported", `{"type":"object","properties":{"z":{"type":"string","minLength":1},"a":{"$ref":"#/$defs/a"}},"$defs":{"a":{"enum":["x",1,null]}}}`, `{"type":"object","properties":{"z":{"type":"string"},"a":{"$ref":"#/$defs/a"}},"$defs":{"a":{"enum":["x",1,null]}},"additionalProperties":false}`},
		{"open keys", `{"type":"object","properties":{"args":{"type":"object"}}}`, ""},
		{"a list", `{"type":"array","items":{"type":"string"}}`, ""},
		{"not an object", `true`, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text, _ := sent(t, defaults(), model.Settings{Model: newClaude}, asking(model.ReplySchema{Name: "s", Schema: json.RawMessage(tt.schema)}))
			var b body
			if err := json.Unmarshal(text, &b); err != nil {
				t.Fatal(err)
			}
			got, words := "", b.System[len(b.System)-1].Text
			if b.OutputConfig != nil {
				got, words = b.OutputConfig.TextFormat.Structure.JSONSchema.Schema, ""
			}
			if got != tt.want || tt.want == "" && !strings.Contains(words, tt.schema) {
				t.Errorf("sent %s, instruction %q", got, words)
			}
		})
	}
}

func TestOnlyRecentClaudesGetNativeSchemas(t *testing.T) {
	tests := []struct {
		model string
		want  bool
	}{
		{"anthropic.claude-3-haiku-20240307-v1:0", false},
		{oldClaude, false},
		{"anthropic.claude-sonnet-4-20250514-v1:0", false},
		{"us.anthropic.claude-opus-4-1-20250805-v1:0", false},
		{newClaude, true},
		{"global.anthropic.claude-opus-4-6-v1", true},
		{"anthropic.claude-sonnet-5", true},
		{"arn:aws:bedrock:us-east-1:1:inference-profile/us.anthropic.claude-haiku-4-5-20251001-v1:0", true},
		{"arn:aws:bedrock:us-east-1:1:application-inference-profile/claude-opus-4-6", false},
		{nova, false},
	}
	for _, tt := range tests {
		text, _ := sent(t, defaults(), model.Settings{Model: tt.model}, asking(plan))
		if got := bytes.Contains(text, []byte("outputConfig")); got != tt.want {
			t.Errorf("%s: %v", tt.model, got)
		}
	}
}
