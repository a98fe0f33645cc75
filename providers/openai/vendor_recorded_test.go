package openai_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/retry"
	"github.com/pexctl/pex/providers/modelhttp/modelhttptest"
	"github.com/pexctl/pex/providers/openai"
)

// recording serves a recorded response and counts the requests.
func recording(t *testing.T, name string, status int) (base string, asked *int) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "recorded", name))
	if err != nil {
		t.Fatal(err)
	}
	asked = new(int)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		*asked++
		w.Header().Set("Content-Type", map[string]string{".sse": "text/event-stream", ".json": "application/json"}[filepath.Ext(name)])
		w.WriteHeader(status)
		_, _ = w.Write(text)
	}))
	t.Cleanup(s.Close)
	return s.URL, asked
}

// ofVendor returns a model of the vendor in a recording's name.
func ofVendor(t *testing.T, name, base string) model.Model {
	t.Helper()
	set := model.Settings{Model: "m-1", BaseURL: base, APIKey: "sk-1234", Retry: retry.Policy{MaxAttempts: 2}}
	vendor, _, _ := strings.Cut(name, "_")
	switch vendor {
	case "azure":
		c := azureDefaults()
		return built(t)(openai.NewAzure(&c, set, modelhttptest.DisableWaits))
	case "ollama":
		c := ollamaDefaults()
		return built(t)(openai.NewOllama(&c, set, modelhttptest.DisableWaits))
	case "mistral":
		c := mistralDefaults()
		return built(t)(openai.NewMistral(&c, set, modelhttptest.DisableWaits))
	}
	t.Fatalf("there is no vendor %s", vendor)
	return nil
}

func TestRecordedRepliesOfVendors(t *testing.T) {
	const moss, magistral = "Moss is green.", "magistral-medium-latest"
	const id = "cmpl-e5cc70bb28c444948073e77776eb30ef"
	filter := "The response was filtered due to the prompt triggering Azure OpenAI's content management policy. Please modify your prompt and retry."
	for _, r := range []struct {
		file      string
		status    int
		want      model.Reply
		reasoning string
	}{
		{"azure_text.sse", 200, model.Reply{ID: "chatcmpl-Az1", Model: "gpt-4.1-mini-2025-04-14", Text: moss, Stop: model.EndTurn, Usage: model.Tokens{Input: 19, Output: 4, Cached: 8}}, ""},
		{"azure_cut.sse", 200, model.Reply{ID: "chatcmpl-Az1", Model: "gpt-4.1-mini-2025-04-14", Text: "Take the", Stop: model.ContentFiltered, Usage: model.Tokens{Input: 3, Output: 2}, Estimated: true}, ""},
		{"azure_blocked.json", 400, model.Reply{Text: filter, Stop: model.ContentFiltered, Usage: model.Tokens{Input: 3}, Estimated: true}, ""},
		{"azure_blocked.sse", 200, model.Reply{Text: filter, Stop: model.ContentFiltered, Usage: model.Tokens{Input: 3}, Estimated: true}, ""},
		{"ollama_thinking.sse", 200, model.Reply{ID: "chatcmpl-431", Model: "qwen3:8b", Text: moss, Stop: model.EndTurn, Usage: model.Tokens{Input: 30, Output: 17}}, "Green or brown?"},
		{"ollama_tools.sse", 200, model.Reply{
			ID: "chatcmpl-431", Model: "qwen3:8b", Stop: model.ToolUse, Usage: model.Tokens{Input: 161, Output: 44},
			Calls: modelhttptest.Calls("call_7s8fdk2m", "find", `{"q":"moss"}`, "call_p0d3kq1z", "find", `{"q":"fern"}`),
		}, ""},
		{"mistral_thinking.sse", 200, model.Reply{ID: id, Model: magistral, Text: moss, Stop: model.EndTurn, Usage: model.Tokens{Input: 19, Output: 41}}, "Green or brown?"},
		{"mistral_thinking.json", 200, model.Reply{ID: id, Model: magistral, Text: moss, Stop: model.EndTurn, Usage: model.Tokens{Input: 19, Output: 41}}, ""},
		{"mistral_tools.sse", 200, model.Reply{
			ID: id, Model: magistral, Stop: model.ToolUse, Usage: model.Tokens{Input: 88, Output: 42},
			Calls: modelhttptest.Calls("D681PevKs", "find", `{"q": "moss"}`, "aZ3kL9pQ2", "find", `{"q": "fern"}`),
		}, ""},
		{"mistral_null_ids.json", 200, model.Reply{
			ID: "cmpl-1", Model: "mistral-small-latest", Stop: model.ToolUse, Usage: model.Tokens{Input: 88, Output: 42},
			Calls: modelhttptest.Calls("call_0", "find", `{}`, "call_1", "find", `{}`),
		}, ""},
		{"mistral_model_length.sse", 200, model.Reply{ID: id, Model: magistral, Text: "Moss is", Stop: model.MaxTokens, Usage: model.Tokens{Input: 131060, Output: 12}}, ""},
	} {
		t.Run(r.file, func(t *testing.T) {
			base, asked := recording(t, r.file, r.status)
			var thought strings.Builder
			var stream func(model.Delta)
			if filepath.Ext(r.file) == ".sse" {
				stream = func(d model.Delta) { thought.WriteString(d.Reasoning) }
			}
			got, err := ofVendor(t, r.file, base).Generate(t.Context(), question, stream)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(&r.want, got, cmpopts.IgnoreFields(model.Reply{}, "Latency", "FirstToken")); diff != "" {
				t.Error(diff)
			}
			if thought.String() != r.reasoning || *asked != 1 {
				t.Errorf("reasoning %q, %d requests", thought.String(), *asked)
			}
		})
	}
}

func TestRecordedErrorsOfVendors(t *testing.T) {
	for _, r := range []struct {
		file   string
		status int
		kind   model.ErrorKind
		asked  int
		text   string
	}{
		{"azure_no_deployment.json", 404, model.NotFound, 1, "requested deployment m-1; set options.deployment if its name differs"},
		{"azure_too_fast.json", 429, model.RateLimited, 2, "retry after 6 seconds"},
		{"azure_wrong_key.json", 401, model.AuthError, 1, "invalid subscription key"},
		{"ollama_no_model.json", 404, model.NotFound, 1, "download it: ollama pull m-1"},
		{"ollama_no_model_old.json", 404, model.NotFound, 1, "download it: ollama pull m-1"},
		{"ollama_no_tools.json", 400, model.BadRequest, 1, "set executor.mode: react_text"},
		{"ollama_no_thinking.json", 400, model.BadRequest, 1, "remove options.reasoning_effort"},
		{"mistral_unknown_field.json", 422, model.BadRequest, 1, "frequency_limit"},
		{"mistral_no_model.json", 400, model.NotFound, 1, "Invalid model: mistral-tremendous"},
		{"mistral_too_fast.json", 429, model.RateLimited, 2, "Rate limit exceeded"},
		{"mistral_wrong_key.json", 401, model.AuthError, 1, "Unauthorized"},
		{"mistral_too_long.json", 400, model.ContextTooLong, 1, "140211 tokens"},
	} {
		t.Run(r.file, func(t *testing.T) {
			base, asked := recording(t, r.file, r.status)
			got, err := ofVendor(t, r.file, base).Generate(t.Context(), question, nil)
			var e *model.Error
			if got != nil || !errors.As(err, &e) || e.Kind != r.kind || e.Status != r.status || !strings.Contains(e.Message, r.text) {
				t.Errorf("reply %+v, error %v", got, err)
			}
			if *asked != r.asked {
				t.Errorf("asked %d times, want %d", *asked, r.asked)
			}
		})
	}
}

func TestEveryRecordingIsReplayed(t *testing.T) {
	source, err := os.ReadFile("vendor_recorded_test.go")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join("testdata", "recorded", "*_*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%v, %v", files, err)
	}
	for _, f := range files {
		if !strings.Contains(string(source), `"`+filepath.Base(f)+`"`) {
			t.Errorf("nothing replays %s", f)
		}
	}
}

func TestExpiredEntraTokenIsExplained(t *testing.T) {
	base, _ := recording(t, "azure_wrong_key.json", 401)
	c := azureDefaults()
	c.Auth = "bearer"
	_, err := built(t)(openai.NewAzure(&c, model.Settings{Model: "m", BaseURL: base, APIKey: "sk-1234"}, modelhttptest.DisableWaits)).Generate(t.Context(), question, nil)
	if err == nil || !strings.Contains(err.Error(), "az account get-access-token") {
		t.Error(err)
	}
}

func TestOllamaThatIsNotRunningIsExplained(t *testing.T) {
	s := httptest.NewServer(http.NotFoundHandler())
	base := s.URL
	s.Close() // the port is closed now
	_, err := ofVendor(t, "ollama_", base).Generate(t.Context(), question, nil)
	var e *model.Error
	if !errors.As(err, &e) || e.Kind != model.NetworkError || !strings.Contains(e.Message, "start it with: ollama serve") {
		t.Error(err)
	}
	other := httptest.NewServer(http.NotFoundHandler())
	defer other.Close()
	_, err = ofVendor(t, "ollama_", other.URL).Generate(t.Context(), question, nil)
	if !errors.As(err, &e) || e.Kind != model.NotFound || !strings.Contains(e.Message, "usually ends in /v1") {
		t.Error(err)
	}
}

func TestVectorsOfVendors(t *testing.T) {
	base, asked := embedder(t, 7)
	c := ollamaDefaults()
	m := built(t)(openai.NewOllama(&c, model.Settings{Model: "e-1", BaseURL: base}, modelhttptest.DisableWaits))
	got, _, err := m.(model.Embedder).Embed(t.Context(), []string{"a", "bbb"})
	if err != nil || len(got) != 2 || (*asked)[0]["model"] != "e-1" {
		t.Errorf("%v, %v, asked %v", got, err, *asked)
	}
}
