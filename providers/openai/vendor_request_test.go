package openai_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/goldentest"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/providers/modelhttp/modelhttptest"
	"github.com/pexctl/pex/providers/openai"
)

// noted is a request that a server received.
type noted struct {
	line   string // method, path and query
	header http.Header
	body   string // indented
}

// asked makes one call of a model and returns the request that the server received.
func asked(t *testing.T, build func(base string) (model.Model, error), req *model.Request, stream func(model.Delta)) noted {
	t.Helper()
	var seen noted
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		var out bytes.Buffer
		if err := json.Indent(&out, raw, "", "  "); err != nil {
			t.Error(err)
		}
		seen = noted{r.Method + " " + r.URL.RequestURI(), r.Header, out.String() + "\n"}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"choices": [{"message": {"content": "x"}}]}`)
	}))
	defer s.Close()
	if _, err := built(t)(build(s.URL)).Generate(t.Context(), req, stream); err != nil {
		t.Fatal(err)
	}
	return seen
}

// everything returns a request that uses all features.
func everything() *model.Request {
	zero, p, seed := 0.0, 1.0, int64(7)
	return &model.Request{
		Key: "run-1/plan.1",
		Messages: []model.Message{
			{Role: model.System, Text: model.Text{"Be brief."}},
			{Role: model.User, Text: model.Text{"Compare."}},
			{Role: model.Assistant, Text: model.Text{"I look."}, Calls: modelhttptest.Calls("call_0", "find", `{"q":"moss"}`, "D681PevKs", "clock", "")},
			{Role: model.ToolRole, CallID: "call_0", Tool: "find", Text: model.Text{"green"}},
			{Role: model.ToolRole, CallID: "D681PevKs", Tool: "clock", Text: model.Text{"noon"}},
			{Role: model.User, Text: model.Text{"And now?"}},
		},
		Tools: []model.ToolDef{
			{Name: "find", Description: "Finds plants.", Input: json.RawMessage(`{"type":"object","properties":{"q":{"type":"string"}},"required":["q"]}`)},
			{Name: "clock"},
		},
		Schema: &model.ReplySchema{Name: "plan", Schema: json.RawMessage(`{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}`)},
		Params: model.Params{Model: "m", Temperature: &zero, TopP: &p, Seed: &seed, MaxOutputTokens: 50, Stop: []string{"END"}},
	}
}

func TestRequestsOfVendors(t *testing.T) {
	set := func(base string) model.Settings {
		return model.Settings{Model: "m", BaseURL: base, APIKey: "sk-1234"}
	}
	for _, v := range []struct {
		name  string
		line  string
		build func(base string) (model.Model, error)
	}{
		{"azure_v1", "POST /openai/v1/chat/completions", func(base string) (model.Model, error) {
			c := azureDefaults()
			c.Deployment, c.ReasoningEffort = "my-deployment", "low"
			return openai.NewAzure(&c, set(base), modelhttptest.DisableWaits)
		}},
		{"azure_dated", "POST /openai/deployments/my%20deployment/chat/completions?api-version=2024-10-21", func(base string) (model.Model, error) {
			c := azureDefaults()
			c.Deployment, c.APIVersion = "my deployment", "2024-10-21"
			return openai.NewAzure(&c, set(base), modelhttptest.DisableWaits)
		}},
		{"azure_old", "POST /openai/deployments/m/chat/completions?api-version=2024-02-01", func(base string) (model.Model, error) {
			c := azureDefaults()
			c.APIVersion, c.StructuredOutput = "2024-02-01", "json_object"
			return openai.NewAzure(&c, set(base), modelhttptest.DisableWaits)
		}},
		{"ollama", "POST /v1/chat/completions", func(base string) (model.Model, error) {
			c := ollamaDefaults()
			c.ReasoningEffort = "none"
			return openai.NewOllama(&c, set(base), modelhttptest.DisableWaits)
		}},
		{"mistral", "POST /v1/chat/completions", func(base string) (model.Model, error) {
			c := mistralDefaults()
			c.SafePrompt, c.ExtraBody = true, map[string]any{"prompt_mode": "reasoning"}
			return openai.NewMistral(&c, set(base), modelhttptest.DisableWaits)
		}},
	} {
		t.Run(v.name, func(t *testing.T) {
			got := asked(t, v.build, everything(), func(model.Delta) {})
			if got.line != v.line {
				t.Errorf("asked %s, want %s", got.line, v.line)
			}
			if key := got.header.Get("Idempotency-Key"); key != "run-1/plan.1" {
				t.Errorf("Idempotency-Key %q", key)
			}
			goldentest.File(t, "request/"+v.name+".json", got.body)
		})
	}
}

func TestKeyHeadersOfVendors(t *testing.T) {
	set := func(base string) model.Settings {
		return model.Settings{Model: "m", BaseURL: base, APIKey: "sk-1234"}
	}
	for _, v := range []struct {
		name, header, want string
		build              func(base string) (model.Model, error)
	}{
		{"azure key", "Api-Key", "sk-1234", func(base string) (model.Model, error) {
			c := azureDefaults()
			return openai.NewAzure(&c, set(base), modelhttptest.DisableWaits)
		}},
		{"azure token", "Authorization", "Bearer sk-1234", func(base string) (model.Model, error) {
			c := azureDefaults()
			c.Auth = "bearer"
			return openai.NewAzure(&c, set(base), modelhttptest.DisableWaits)
		}},
		{"azure by a gateway's header", "X-Gateway-Key", "abcd", func(base string) (model.Model, error) {
			c := azureDefaults()
			c.Headers = map[string]component.Template{"X-Gateway-Key": {Text: "abcd"}}
			return openai.NewAzure(&c, model.Settings{Model: "m", BaseURL: base}, modelhttptest.DisableWaits)
		}},
		{"ollama behind a proxy", "Authorization", "Bearer sk-1234", func(base string) (model.Model, error) {
			c := ollamaDefaults()
			return openai.NewOllama(&c, set(base), modelhttptest.DisableWaits)
		}},
		{"mistral", "Authorization", "Bearer sk-1234", func(base string) (model.Model, error) {
			c := mistralDefaults()
			return openai.NewMistral(&c, set(base), modelhttptest.DisableWaits)
		}},
	} {
		t.Run(v.name, func(t *testing.T) {
			seen := asked(t, v.build, question, nil).header
			got := map[string]string{}
			for _, name := range []string{"Api-Key", "Authorization", "X-Gateway-Key"} {
				if value := seen.Get(name); value != "" {
					got[name] = value
				}
			}
			if diff := cmp.Diff(map[string]string{v.header: v.want}, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestNoRequestWithoutARequiredKey(t *testing.T) {
	for _, v := range []struct {
		name     string
		build    func(base, key string) (model.Model, error)
		required bool
	}{
		{"azure", func(base, key string) (model.Model, error) {
			c := azureDefaults()
			return openai.NewAzure(&c, model.Settings{Model: "m", BaseURL: base, APIKey: key}, modelhttptest.DisableWaits)
		}, true},
		{"ollama", func(base, key string) (model.Model, error) {
			c := ollamaDefaults()
			return openai.NewOllama(&c, model.Settings{Model: "m", BaseURL: base, APIKey: key}, modelhttptest.DisableWaits)
		}, false},
	} {
		t.Run(v.name, func(t *testing.T) {
			base, asked := refusing(t, http.StatusBadRequest, `{"error": {"message": "no"}}`)
			for _, key := range []string{"sk-1234", ""} {
				*asked = 0
				m := built(t)(v.build(base, key))
				_, err := m.Generate(t.Context(), question, nil)
				_, _, also := m.(model.Embedder).Embed(t.Context(), []string{"x"})
				if want := v.required && key == ""; want && (*asked != 0 || !isMissingKey(err) || !isMissingKey(also)) || !want && *asked != 2 {
					t.Errorf("key %q: asked %d times: %v, %v", key, *asked, err, also)
				}
			}
		})
	}
}

func isMissingKey(err error) bool {
	e, ok := errors.AsType[*model.Error](err)
	return ok && e.Kind == model.AuthError && strings.Contains(e.Message, "no API key")
}

func TestURLsOfVendors(t *testing.T) {
	azure := func(version, deployment string) func(base string) (model.Model, error) {
		return func(base string) (model.Model, error) {
			c := azureDefaults()
			c.APIVersion, c.Deployment = version, deployment
			return openai.NewAzure(&c, model.Settings{BaseURL: base, APIKey: "sk-1234"}, modelhttptest.DisableWaits)
		}
	}
	ollama := func(base string) (model.Model, error) {
		c := ollamaDefaults()
		return openai.NewOllama(&c, model.Settings{Model: "m", BaseURL: base}, modelhttptest.DisableWaits)
	}
	for _, v := range []struct {
		name, path, want string
		build            func(base string) (model.Model, error)
	}{
		{"endpoint with a slash", "/", "/openai/v1/", azure("", "")},
		{"endpoint with /openai", "/openai/", "/openai/v1/", azure("", "")},
		{"the v1 API named", "/openai/v1/", "/openai/v1/", azure("", "")},
		{"a gateway's path", "/team/a", "/team/a/openai/v1/", azure("", "")},
		{"previews", "", "/openai/v1/", azure("preview", "")},
		{"a dated preview", "", "/openai/deployments/d/", azure("2025-04-01-preview", "d")},
		{"a deployment named", "/openai/deployments/other", "/openai/deployments/other/", azure("2024-10-21", "d")},
		{"a deployment with a slash", "", "/openai/deployments/a%2Fb/", azure("2024-10-21", "a/b")},
		{"ollama's host", "", "/v1/", ollama},
		{"ollama's host with a slash", "/", "/v1/", ollama},
		{"ollama behind a path", "/llm/v1", "/llm/v1/", ollama},
	} {
		t.Run(v.name, func(t *testing.T) {
			got := asked(t, func(base string) (model.Model, error) { return v.build(base + v.path) }, question, nil)
			path, _, _ := strings.Cut(strings.TrimPrefix(got.line, "POST "), "chat/completions")
			if path != v.want {
				t.Errorf("asked %s, want %s", got.line, v.want)
			}
		})
	}
}

func TestInvalidSettingsOfVendors(t *testing.T) {
	for _, v := range []struct {
		name, base, version, model, want string
	}{
		{"no endpoint", "", "", "m", "set it to the endpoint of the resource, https://NAME.openai.azure.com"},
		{"no address", "NAME.openai.azure.com", "", "m", "write a URL such as https://NAME.openai.azure.com"},
		{"no version", "https://a.example", "v2", "m", `"v2" is not a version`},
		{"a date too many", "https://a.example/openai/v1", "2024-10-21", "m", "remove options.api_version"},
		{"a date too few", "https://a.example/openai/deployments/d", "", "m", "set options.api_version to a date"},
		{"no deployment", "https://a.example", "2024-10-21", "", "no deployment is set"},
	} {
		t.Run(v.name, func(t *testing.T) {
			c := azureDefaults()
			c.APIVersion = v.version
			_, err := openai.NewAzure(&c, model.Settings{Model: v.model, BaseURL: v.base}, nil)
			if err == nil || !strings.Contains(err.Error(), v.want) {
				t.Errorf("error %v", err)
			}
		})
	}
	if _, err := openai.Ollama.Build(openai.Ollama.Config(), model.Settings{BaseURL: "localhost:11434"}); err == nil || !strings.Contains(err.Error(), "http://localhost:11434/v1") {
		t.Error(err)
	}
	if _, err := openai.Mistral.Build(openai.Mistral.Config(), model.Settings{BaseURL: "api.mistral.ai"}); err == nil || !strings.Contains(err.Error(), "https://api.mistral.ai/v1") {
		t.Error(err)
	}
}

func TestMissingKeyOfAVendorNamesItsVariable(t *testing.T) {
	azure, mistral := azureDefaults(), mistralDefaults()
	a, errA := openai.NewAzure(&azure, model.Settings{Model: "m", BaseURL: "https://a.example"}, nil)
	m, errM := openai.NewMistral(&mistral, model.Settings{Model: "m"}, nil)
	if err := errors.Join(errA, errM); err != nil {
		t.Fatal(err)
	}
	for env, llm := range map[string]model.Model{"AZURE_OPENAI_API_KEY": a, "MISTRAL_API_KEY": m} {
		_, err := llm.Generate(t.Context(), question, nil)
		var e *model.Error
		if !errors.As(err, &e) || e.Kind != model.AuthError || !strings.Contains(e.Message, env) {
			t.Errorf("error %v, want %s", err, env)
		}
	}
}
