package openai_test

import (
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
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/providers/openai"
)

// sent makes one call and returns the body and header that the server received.
func sent(t *testing.T, c openai.Config, set model.Settings, req *model.Request, stream func(model.Delta)) (map[string]any, http.Header) {
	t.Helper()
	var fields map[string]any
	var header http.Header
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header = r.Header
		raw, err := io.ReadAll(r.Body)
		if err != nil || json.Unmarshal(raw, &fields) != nil {
			t.Errorf("body %s, %v", raw, err)
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"choices": [{"message": {"content": "x"}}]}`)
	}))
	defer s.Close()
	if _, err := at(t, s.URL, c, set).Generate(t.Context(), req, stream); err != nil {
		t.Fatal(err)
	}
	return fields, header
}

func TestUnsetFieldsAreNotSent(t *testing.T) {
	got, header := sent(t, defaults(), model.Settings{Model: "m"}, question, nil)
	want := map[string]any{"model": "m", "messages": []any{map[string]any{"role": "user", "content": "How many?"}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for _, name := range []string{"Authorization", "Idempotency-Key", "Openai-Organization", "Openai-Project"} {
		if v, ok := header[name]; ok {
			t.Errorf("header %s: %v", name, v)
		}
	}
}

func TestOptionsAreSent(t *testing.T) {
	c := defaults()
	c.ReasoningEffort, c.Organization, c.Project = "low", "org-1", "proj-1"
	c.Headers = map[string]component.Template{"X-Team": {Text: "moss"}, "Authorization": {Text: "Basic abcdef"}}
	c.ExtraBody = map[string]any{"top_k": 5, "chat.template": map[string]any{"thinking": false}, "model": "other"}
	req := *question
	req.Params.MaxOutputTokens = 50
	req.Key = "run-1/plan.1"
	got, header := sent(t, c, model.Settings{Model: "m", UserAgent: "pex/9"}, &req, func(model.Delta) {})
	for name, want := range map[string]any{
		"reasoning_effort": "low", "max_tokens": 50.0, "top_k": 5.0, "model": "other", "stream": true,
		"chat.template": map[string]any{"thinking": false}, "stream_options": map[string]any{"include_usage": true},
		"max_completion_tokens": nil,
	} {
		if diff := cmp.Diff(want, got[name]); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	for name, want := range map[string]string{
		"X-Team": "moss", "Authorization": "Basic abcdef", "Openai-Organization": "org-1", "Openai-Project": "proj-1",
		"User-Agent": "pex/9", "Idempotency-Key": "run-1/plan.1",
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
		return []string{"v1-", v.(string)}
	})
	c := defaults()
	c.Headers = map[string]component.Template{"X-Api-Key": header}
	if _, seen := sent(t, c, model.Settings{Env: os.Getenv}, question, nil); seen.Get("X-Api-Key") != "v1-gateway-secret" {
		t.Errorf("sent %q", seen.Get("X-Api-Key"))
	}
	base, _ := refusing(t, http.StatusForbidden, `{"error": "v1-gateway-secret is not allowed"}`)
	if _, err := at(t, base, c, model.Settings{Env: os.Getenv}).Generate(t.Context(), question, nil); err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("error %v", err)
	}
}

func TestNameOfMaxTokensDependsOnTheServer(t *testing.T) {
	for name, legacy := range map[string]*bool{"max_tokens": nil, "max_completion_tokens": new(bool)} {
		c := defaults()
		c.LegacyMaxTokens = legacy
		req := *question
		req.Params.MaxOutputTokens = 50
		if got, _ := sent(t, c, model.Settings{}, &req, nil); got[name] != 50.0 {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestStreamUsageCanBeLeftOut(t *testing.T) {
	c := defaults()
	c.StreamUsage = false
	if got, _ := sent(t, c, model.Settings{}, question, func(model.Delta) {}); got["stream_options"] != nil {
		t.Errorf("sent %v", got["stream_options"])
	}
}

func TestVariablesOfTheSDKAreIgnored(t *testing.T) {
	for _, name := range []string{"OPENAI_API_KEY", "OPENAI_ADMIN_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"} {
		t.Setenv(name, "leaks-"+name)
	}
	t.Setenv("OPENAI_CUSTOM_HEADERS", "X-Leak: leaks-header")
	t.Setenv("OPENAI_BASE_URL", "http://127.0.0.1:1")
	_, header := sent(t, defaults(), model.Settings{}, question, nil)
	for name, values := range header {
		if strings.Contains(strings.Join(values, " "), "leaks-") {
			t.Errorf("%s: %v", name, values)
		}
	}
}

func TestResponseFormats(t *testing.T) {
	open := json.RawMessage(`{"type":"object","properties":{"a":{"type":"string"}}}`)
	closed := json.RawMessage(`{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}`)
	asked := func(name string, schema json.RawMessage, strict bool) any {
		var decoded any
		if err := json.Unmarshal(schema, &decoded); err != nil {
			t.Fatal(err)
		}
		inner := map[string]any{"name": name, "schema": decoded}
		if strict {
			inner["strict"] = true
		}
		return map[string]any{"type": "json_schema", "json_schema": inner}
	}
	tests := []struct {
		name   string
		how    string
		schema model.ReplySchema
		want   any
	}{
		{"open schema", "json_schema", model.ReplySchema{Name: "plan", Schema: open}, asked("plan", open, false)},
		{"strict schema", "json_schema", model.ReplySchema{Name: "the plan/1", Schema: closed}, asked("the_plan_1", closed, true)},
		{"no name", "json_schema", model.ReplySchema{Schema: open}, asked("reply", open, false)},
		{"long name", "json_schema", model.ReplySchema{Name: strings.Repeat("n", 99), Schema: open}, asked(strings.Repeat("n", 64), open, false)},
		{"JSON mode", "json_object", model.ReplySchema{Name: "plan", Schema: open}, map[string]any{"type": "json_object"}},
		{"not at all", "none", model.ReplySchema{Name: "plan", Schema: open}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := defaults()
			c.StructuredOutput = tt.how
			req := *question
			req.Schema = &tt.schema
			got, _ := sent(t, c, model.Settings{}, &req, nil)
			if diff := cmp.Diff(tt.want, got["response_format"]); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestStrictModeIsUsedOnlyForConformingSchemas(t *testing.T) {
	tests := []struct {
		name, schema string
		want         bool
	}{
		{"closed", `{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}`, true},
		{"nested", `{"type":"object","properties":{"a":{"type":"array","items":{"$ref":"#/$defs/s"}}},"required":["a"],"additionalProperties":false,"$defs":{"s":{"type":["object","null"],"properties":{},"additionalProperties":false}}}`, true},
		{"union", `{"type":"object","properties":{"a":{"anyOf":[{"type":"string"},{"type":"null"}]}},"required":["a"],"additionalProperties":false}`, true},
		{"open", `{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}`, false},
		{"optional property", `{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}},"required":["a"],"additionalProperties":false}`, false},
		{"open inside", `{"type":"object","properties":{"a":{"type":"object"}},"required":["a"],"additionalProperties":false}`, false},
		{"open in a list", `{"type":"object","properties":{"a":{"type":"array","items":{"type":"object"}}},"required":["a"],"additionalProperties":false}`, false},
		{"open in a union", `{"type":"object","properties":{"a":{"anyOf":[{"type":"object"}]}},"required":["a"],"additionalProperties":false}`, false},
		{"keyword", `{"type":"object","properties":{"a":{"oneOf":[]}},"required":["a"],"additionalProperties":false}`, false},
		{"a format", `{"type":"object","properties":{"a":{"type":"string","format":"uri"}},"required":["a"],"additionalProperties":false}`, false},
		{"no type", `{"type":"object","properties":{"a":{}},"required":["a"],"additionalProperties":false}`, false},
		{"a list", `{"type":"array","items":{"type":"string"}}`, false},
		{"true", `true`, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			req := *question
			req.Schema = &model.ReplySchema{Name: "s", Schema: json.RawMessage(tt.schema)}
			got, _ := sent(t, defaults(), model.Settings{}, &req, nil)
			inner := got["response_format"].(map[string]any)["json_schema"].(map[string]any)
			if _, strict := inner["strict"]; strict != tt.want {
				t.Errorf("strict %v", inner["strict"])
			}
		})
	}
}

func TestInvalidRequestIsNotSent(t *testing.T) {
	tests := []struct {
		name string
		req  model.Request
		want string
	}{
		{"tool schema", model.Request{Tools: []model.ToolDef{{Name: "find", Input: json.RawMessage(`[`)}}}, "input schema of tool find"},
		{"reply schema", model.Request{Schema: &model.ReplySchema{Name: "plan", Schema: json.RawMessage(`{`)}}, "reply schema plan is not valid JSON"},
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

func TestBaseURLIsChecked(t *testing.T) {
	for _, base := range []string{"localhost:11434/v1", "ftp://host/v1", "http://", "http://a b/", "://"} {
		if _, err := openai.Build(new(openai.Config), model.Settings{BaseURL: base}); err == nil || !strings.Contains(err.Error(), "https://host/v1") {
			t.Errorf("%s: %v", base, err)
		}
	}
}

func TestMissingKeyIsReportedWithoutARequest(t *testing.T) {
	m, err := openai.Build(new(openai.Config), model.Settings{Model: "m"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = m.Generate(t.Context(), question, nil)
	var e *model.Error
	if !errors.As(err, &e) || e.Kind != model.AuthError || !strings.Contains(e.Message, "OPENAI_API_KEY") {
		t.Errorf("error %v", err)
	}
}
