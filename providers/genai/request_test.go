package genai_test

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
	"github.com/pexctl/pex/providers/genai"
	"github.com/pexctl/pex/providers/modelhttp/modelhttptest"
)

// sent makes one call and returns the request that the server received, and its body.
func sent(t *testing.T, c genai.Config, set model.Settings, req *model.Request, stream func(model.Delta)) (*http.Request, []byte) {
	t.Helper()
	var body []byte
	var request *http.Request
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		request = r
		body, _ = io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"candidates": [{"content": {"parts": [{"text": "x"}]}, "finishReason": "STOP"}]}`)
	}))
	defer s.Close()
	if _, err := at(t, s.URL+set.BaseURL, c, set).Generate(t.Context(), req, stream); err != nil {
		t.Fatal(err)
	}
	return request, body
}

func say(role model.Role, text ...string) model.Message {
	return model.Message{Role: role, Text: text}
}

// loop returns a conversation with calls, of which only the second turn's are signed.
func loop(params model.Params) *model.Request {
	return &model.Request{Params: params, Messages: []model.Message{
		say(model.System, "Be ", "brief."),
		say(model.System, "Be kind."),
		say(model.User, "Compare."),
		{Role: model.Assistant, Text: model.Text{"I look at both."}, Calls: modelhttptest.Calls("c1", "find", `{"q":"moss","id":12345678901234567890}`, "c2", "find", `{"q":`)},
		{Role: model.ToolRole, CallID: "c1", Tool: "find", Text: model.Text{"green"}},
		{Role: model.ToolRole, CallID: "c2", Text: model.Text{"not JSON"}, IsError: true},
		say(model.Assistant, ""),
		{Role: model.Assistant, Calls: signed("c2lnbmVkIG9uY2U=", modelhttptest.Calls("c3", "clock", "", "c4", "clock", `{}`))},
		{Role: model.ToolRole, CallID: "c3", Tool: "clock", Text: model.Text{""}},
		{Role: model.ToolRole, CallID: "c4", Tool: "clock", Text: model.Text{"{\"at\": 7}"}},
		say(model.System, "Two turns are left."),
		say(model.User, "And <the> other?"),
	}}
}

func equipped(parallel bool) *model.Request {
	return &model.Request{
		ParallelTools: parallel,
		Messages:      []model.Message{say(model.System, "Be brief."), say(model.User, "Go.")},
		Tools: []model.ToolDef{
			{Name: "find", Description: "Finds plants.", Input: json.RawMessage(`{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","properties":{"q":{"type":"string","pattern":"^[a-z]+$"},"a":{"const":"x"}},"required":["q"],"additionalProperties":false}`)},
			{Name: "server__clock"},
		},
	}
}

func planned(req *model.Request) *model.Request {
	req.Schema = &model.ReplySchema{Name: "plan", Schema: json.RawMessage(`{"type": "object", "properties": {"steps": {"type": "array", "items": {"type": "string"}}, "result": {"type": "string"}}}`)}
	return req
}

func TestRequestsOnTheWire(t *testing.T) {
	zero, p, seed, budget := 0.0, 0.95, int64(-7), 0
	options := defaults()
	options.ThinkingBudget, options.IncludeThoughts = &budget, true
	options.SafetySettings = map[string]string{"HARM_CATEGORY_HATE_SPEECH": "OFF", "HARM_CATEGORY_HARASSMENT": "BLOCK_ONLY_HIGH"}
	options.ExtraBody = map[string]any{"generationConfig": map[string]any{"topK": 5, "topP": 0.5}, "labels": map[string]any{"team": "moss"}}
	level := defaults()
	level.ThinkingLevel = "low"
	jsonMode, none := defaults(), defaults()
	jsonMode.StructuredOutput, none.StructuredOutput = "json_object", "none"
	set := model.Params{Temperature: &zero, TopP: &p, Seed: &seed, MaxOutputTokens: 50, Stop: []string{"END", "\n\n"}}
	copyOfQuestion := func() *model.Request { r := *question; return &r }
	for _, tt := range []struct {
		name   string
		config genai.Config
		req    *model.Request
	}{
		{"unset", defaults(), question},
		{"parameters", level, &model.Request{Params: set, Messages: question.Messages}},
		{"options", options, &model.Request{Params: set, Messages: question.Messages}},
		{"loop_gemini_2", defaults(), loop(model.Params{Model: "gemini-2.5-flash"})},
		{"loop_gemini_3", defaults(), loop(model.Params{Model: "gemini-3-pro-preview"})},
		{"tools", defaults(), equipped(true)},
		{"one_call", defaults(), equipped(false)},
		{"schema", defaults(), planned(copyOfQuestion())},
		{"schema_json_mode", jsonMode, planned(copyOfQuestion())},
		{"schema_none", none, planned(copyOfQuestion())},
		{"schema_and_tools_gemini_2", defaults(), planned(equipped(true))},
		{"schema_and_tools_gemini_3", defaults(), func() *model.Request {
			r := planned(equipped(true))
			r.Params.Model = "gemini-flash-latest"
			return r
		}()},
		{"system_only", defaults(), &model.Request{Messages: []model.Message{say(model.System, "Speak.")}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, body := sent(t, tt.config, model.Settings{Model: "m"}, tt.req, nil)
			var shown bytes.Buffer
			if err := json.Indent(&shown, body, "", "  "); err != nil {
				t.Fatal(err)
			}
			goldentest.File(t, "request/"+tt.name+".json", shown.String()+"\n")
		})
	}
}

func TestModelPath(t *testing.T) {
	stream := func(model.Delta) {}
	for _, tt := range []struct {
		name, base, model string
		stream            func(model.Delta)
		want              string
	}{
		{"a base without version", "", "gemini-2.5-flash", nil, "/v1beta/models/gemini-2.5-flash:generateContent"},
		{"a slash at its end", "/v1alpha/", "m", nil, "/v1alpha/models/m:generateContent"},
		{"a stream", "/v1", "m", stream, "/v1/models/m:streamGenerateContent?alt=sse"},
		{"a base with a query", "/v1?tenant=7", "m", stream, "/v1/models/m:streamGenerateContent?alt=sse&tenant=7"},
		{"a longer path", "/gateway/v1/publishers/google", "m", nil, "/gateway/v1/publishers/google/models/m:generateContent"},
		{"another collection", "/v1beta", "tunedModels/my moss", nil, "/v1beta/tunedModels/my%20moss:generateContent"},
		{"a name with special characters", "/v1beta", "tunedModels/50%?", nil, "/v1beta/tunedModels/50%25%3F:generateContent"},
		{"the name with its collection", "/v1beta", "models/m", nil, "/v1beta/models/m:generateContent"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, _ := sent(t, defaults(), model.Settings{BaseURL: tt.base, Model: tt.model}, question, tt.stream)
			if got := r.URL.String(); got != tt.want {
				t.Errorf("requested %s, want %s", got, tt.want)
			}
		})
	}
}

func TestHeaders(t *testing.T) {
	var secret component.Template
	secret.Bind(func(l component.Lookup) []string {
		v, _ := l("env", "PEX_TEST_GATEWAY_KEY")
		if _, ok := l("parameters", "PEX_TEST_GATEWAY_KEY"); ok {
			t.Error("a parameter was found in the environment")
		}
		return []string{"v1-", v.(string)}
	})
	t.Setenv("PEX_TEST_GATEWAY_KEY", "gateway-secret")
	c := defaults()
	c.Headers = map[string]component.Template{"X-Gateway-Token": secret, "x-team": {Text: "moss"}}
	set := model.Settings{Model: "m", APIKey: "AI-key", UserAgent: "pex/9", Env: os.Getenv}
	req := *question
	req.Key = "run-1/plan.1"
	r, _ := sent(t, c, set, &req, nil)
	for name, want := range map[string]string{
		"X-Gateway-Token": "v1-gateway-secret", "X-Team": "moss", "X-Goog-Api-Key": "AI-key", "User-Agent": "pex/9",
		"Content-Type": "application/json", "Authorization": "",
	} {
		if r.Header.Get(name) != want {
			t.Errorf("%s: %q, want %q", name, r.Header.Get(name), want)
		}
	}
	if _, ok := r.Header["Idempotency-Key"]; ok {
		t.Error("an Idempotency-Key was sent, which the API does not support")
	}
	base, _ := refusing(t, http.StatusForbidden, `{"error": {"message": "v1-gateway-secret and AI-key are not allowed"}}`)
	if _, err := at(t, base, c, set).Generate(t.Context(), question, nil); err == nil || strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "AI-key") {
		t.Errorf("error %v", err)
	}
}

func TestMachineEnvironmentIsNotUsed(t *testing.T) {
	for _, name := range []string{"GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_CLOUD_PROJECT"} {
		t.Setenv(name, "leaks-"+name)
	}
	t.Setenv("GOOGLE_GEMINI_BASE_URL", "http://127.0.0.1:1")
	t.Setenv("GOOGLE_GENAI_USE_VERTEXAI", "true")
	r, _ := sent(t, defaults(), model.Settings{}, question, nil)
	for name, values := range r.Header {
		if strings.Contains(strings.Join(values, " "), "leaks-") {
			t.Errorf("%s: %v", name, values)
		}
	}
}

func TestPortableSchemas(t *testing.T) {
	deep := strings.Repeat(`{"items":`, 200) + `{}` + strings.Repeat(`}`, 200)
	tests := []struct{ name, schema, want string }{
		{"order is kept", `{"type":"object","required":["b"],"properties":{"b":{"type":"string"},"a":{"enum":["x",null]}}}`, `{"type":"object","required":["b"],"properties":{"b":{"type":"string"},"a":{"enum":["x",null]}}}`},
		{"unknown keywords", `{"$schema":"x","$comment":"y","type":"object","minProperties":1,"not":{},"default":{}}`, `{"type":"object"}`},
		{"properties of such names", `{"properties":{"pattern":{"type":"string","pattern":"x"},"default":{"default":1}}}`, `{"properties":{"pattern":{"type":"string"},"default":{}}}`},
		{"closed", `{"type":"object","additionalProperties":false}`, `{"type":"object","additionalProperties":false}`},
		{"additional properties with a schema", `{"additionalProperties":{"type":"string","minLength":1}}`, `{"additionalProperties":{"type":"string"}}`},
		{"constants", `{"anyOf":[{"const":"a"},{"const":-1.5},{"const":null},{"const":{"a":1}}]}`, `{"anyOf":[{"enum":["a"]},{"enum":[-1.5]},{},{}]}`},
		{"definitions", `{"definitions":{"s":{"type":"string","maxLength":3}},"items":{"$ref":"#/definitions/s"}}`, `{"$defs":{"s":{"type":"string"}},"items":{"$ref":"#/$defs/s"}}`},
		{"both kinds of definitions", `{"$defs":{"s":{"type":"string"}},"definitions":{}}`, `{"$defs":{"s":{"type":"string"}}}`},
		{"a reference with other keywords", `{"properties":{"a":{"description":"x","$ref":"#/$defs/s"}}}`, `{"properties":{"a":{"$ref":"#/$defs/s"}}}`},
		{"an allOf of one", `{"allOf":[{"$ref":"#/$defs/s"}],"description":"x"}`, `{"$ref":"#/$defs/s"}`},
		{"an allOf of two", `{"allOf":[{"type":"string"},{"minLength":1}],"description":"x"}`, `{"description":"x"}`},
		{"a tuple", `{"items":[{"type":"string","x":1},true]}`, `{"prefixItems":[{"type":"string"},{}]}`},
		{"alternatives that are not a list", `{"anyOf":{"type":"string"}}`, `{}`},
		{"true", `true`, `{}`},
		{"a list of types", `{"type":["string","null"],"format":"date"}`, `{"type":["string","null"],"format":"date"}`},
		{"very deep", deep, strings.Repeat(`{"items":`, 64) + `{}` + strings.Repeat(`}`, 64)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			req := *question
			req.Tools = []model.ToolDef{{Name: "f", Input: json.RawMessage(tt.schema)}}
			req.ParallelTools = true
			_, raw := sent(t, defaults(), model.Settings{}, &req, nil)
			var b body
			if err := json.Unmarshal(raw, &b); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, string(b.Tools[0].FunctionDeclarations[0].ParametersJSONSchema)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestInvalidRequestIsNotSent(t *testing.T) {
	seed := int64(1) << 40
	tests := []struct {
		name string
		req  model.Request
		want string
	}{
		{"tool schema", model.Request{Tools: []model.ToolDef{{Name: "find", Input: json.RawMessage(`[`)}}}, "input schema of tool find"},
		{"reply schema", model.Request{Schema: &model.ReplySchema{Name: "plan", Schema: json.RawMessage(`{`)}}, "reply schema plan is not valid JSON"},
		{"seed", model.Request{Params: model.Params{Seed: &seed}}, "32-bit seeds"},
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
	for _, base := range []string{"localhost:8080/v1beta", "ftp://host/v1beta", "http://", "http://a b/", "://"} {
		if _, err := genai.Build(new(genai.Config), model.Settings{BaseURL: base}); err == nil || !strings.Contains(err.Error(), "https://host/v1beta") {
			t.Errorf("%s: %v", base, err)
		}
	}
	c := genai.Config{ThinkingLevel: "low", ThinkingBudget: new(int)}
	if _, err := genai.Build(&c, model.Settings{}); err == nil || !strings.Contains(err.Error(), "mutually exclusive") {
		t.Errorf("error %v", err)
	}
}

func TestMissingKeyIsReportedBeforeTheRequest(t *testing.T) {
	m, err := genai.Build(new(genai.Config), model.Settings{Model: "m"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = m.Generate(t.Context(), question, nil)
	var e *model.Error
	if !errors.As(err, &e) || e.Kind != model.AuthError || !strings.Contains(e.Message, "GEMINI_API_KEY") {
		t.Errorf("error %v", err)
	}
}
