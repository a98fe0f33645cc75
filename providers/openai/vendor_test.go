package openai_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/pexctl/pex/engine/enginetest"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/providers/modelhttp/modelhttptest"
	"github.com/pexctl/pex/providers/openai"
)

func azureDefaults() openai.AzureConfig { return *openai.AzureOpenAI.Config().(*openai.AzureConfig) }

func mistralDefaults() openai.MistralConfig { return *openai.Mistral.Config().(*openai.MistralConfig) }

func ollamaDefaults() openai.OllamaConfig { return *openai.Ollama.Config().(*openai.OllamaConfig) }

// azure is a resource in Azure. The key has its own header, results of the content filter
// come before, in and after the reply, and error codes are numbers.
func azure(base, version, key string) vendor {
	return vendor{
		base: base,
		rules: func(r *http.Request, _ []byte) string {
			if got := r.URL.Query().Get("api-version"); got != version {
				return "api-version is " + got
			}
			if r.Header.Get("Api-Key")+r.Header.Get("Authorization") != key {
				return "the key is not where it belongs"
			}
			return ""
		},
		refuse: func(h http.Header, x enginetest.Response) any {
			h.Set("Apim-Request-Id", x.RequestID)
			return map[string]any{"error": map[string]any{"code": strconv.Itoa(x.Status), "message": x.Message}}
		},
		chunks: func(x enginetest.Response) []string {
			safe := `{"hate":{"filtered":false,"severity":"safe"}}`
			out := []string{`{"choices":[],"created":0,"id":"","model":"","object":"","prompt_filter_results":[{"prompt_index":0,"content_filter_results":` + safe + `}]}`}
			all := chunks(x)
			out = append(out, all[:2]...)
			out = append(out, `{"id":"","object":"","created":0,"model":"","choices":[{"index":0,"finish_reason":null,"content_filter_results":`+safe+`,"content_filter_offsets":{"check_offset":44,"start_offset":44,"end_offset":198}}],"usage":null}`)
			return append(out, all[2:]...)
		},
	}
}

func TestAzureConformance(t *testing.T) {
	const key = "sk-a-secret-of-the-suite"
	for _, v := range []struct {
		name, base, version, auth, sent string
	}{
		{"v1", "/openai/v1", "", "api_key", key},
		{"dated", "/openai/deployments/model-1", "2024-10-21", "api_key", key},
		{"a token", "/openai/v1", "preview", "bearer", "Bearer " + key},
	} {
		t.Run(v.name, func(t *testing.T) {
			enginetest.ModelSuite(t, func(t *testing.T, script *enginetest.ModelScript, set model.Settings) model.Model {
				c := azureDefaults()
				c.APIVersion, c.Auth = v.version, v.auth
				c.LegacyMaxTokens = new(true) // the suite's server reads max_tokens
				set.BaseURL = newServer(t, script, azure(v.base, v.version, v.sent))
				return built(t)(openai.NewAzure(&c, set, modelhttptest.DisableWaits))
			})
		})
	}
}

func built(t testing.TB) func(model.Model, error) model.Model {
	return func(m model.Model, err error) model.Model {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
}

// ollamaServer sends each call in one chunk, and supports only the fields below.
func ollamaServer() vendor {
	return vendor{
		rules: func(_ *http.Request, raw []byte) string {
			return onlyKnows(raw, "model", "messages", "stream", "stream_options", "max_tokens", "seed", "stop", "temperature", "top_p", "response_format", "tools", "reasoning_effort", "parallel_tool_calls")
		},
		refuse: func(h http.Header, x enginetest.Response) any {
			h.Set("X-Request-Id", x.RequestID)
			return map[string]any{"error": map[string]any{"message": x.Message, "type": "api_error", "param": nil, "code": nil}}
		},
		chunks: wholeCalls(false),
	}
}

// wholeCalls returns the events of servers that send each call in one chunk. If counted is
// set, the last event has the token counts.
func wholeCalls(counted bool) func(x enginetest.Response) []string {
	return func(x enginetest.Response) []string {
		delta := func(fields map[string]any) map[string]any { fields["role"] = "assistant"; return fields }
		var out []string
		for _, word := range strings.SplitAfter(x.Reply.Text, " ") {
			out = append(out, chunk(x, delta(map[string]any{"content": word}), nil, nil))
		}
		for i, c := range x.Reply.Calls {
			call := toolCall{Index: &i, ID: c.ID, Type: "function", Function: function{Name: c.Name, Arguments: string(c.Args)}}
			out = append(out, chunk(x, delta(map[string]any{"content": "", "tool_calls": []toolCall{call}}), nil, nil))
		}
		stop, u := finish(x.Reply.Stop), usage(x.Reply.Usage)
		if x.Reply.Stop == model.Refusal {
			out[0] = chunk(x, delta(map[string]any{"refusal": x.Reply.Text}), nil, nil)
		}
		if counted {
			return append(out, chunk(x, delta(map[string]any{"content": ""}), stop, u), "[DONE]")
		}
		out = append(out, chunk(x, delta(map[string]any{"content": ""}), stop, nil))
		if u != nil {
			out = append(out, chunk(x, nil, nil, u))
		}
		return append(out, "[DONE]")
	}
}

// onlyKnows returns a message about a field that the server does not support, or "".
func onlyKnows(raw []byte, known ...string) string {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil {
		return err.Error()
	}
	for name := range fields {
		if !slices.Contains(known, name) {
			return name + ": Extra inputs are not permitted"
		}
	}
	return ""
}

func TestOllamaConformance(t *testing.T) {
	enginetest.ModelSuite(t, func(t *testing.T, script *enginetest.ModelScript, set model.Settings) model.Model {
		c := ollamaDefaults()
		set.BaseURL = newServer(t, script, ollamaServer())
		return built(t)(openai.NewOllama(&c, set, modelhttptest.DisableWaits))
	})
}

var nine = regexp.MustCompile(`^[a-zA-Z0-9]{9}$`)

// mistralServer rejects what Mistral's platform rejects.
func mistralServer() vendor {
	return vendor{
		rules: mistralRules,
		asked: func(raw []byte, a *enginetest.ReceivedRequest) {
			var b struct {
				Seed *int64 `json:"random_seed"`
			}
			_ = json.Unmarshal(raw, &b)
			a.Params.Seed = b.Seed
			for i := range a.Messages {
				a.Messages[i].CallID = askedID(a.Messages[i].CallID)
				for j := range a.Messages[i].Calls {
					a.Messages[i].Calls[j].ID = askedID(a.Messages[i].Calls[j].ID)
				}
			}
		},
		refuse: func(h http.Header, x enginetest.Response) any {
			h.Set("Mistral-Correlation-Id", x.RequestID)
			return map[string]any{"object": "error", "message": x.Message, "type": "invalid_request_error", "param": nil, "code": "3051"}
		},
		chunks: wholeCalls(true),
	}
}

// askedID returns the suite's id for one of nine characters.
func askedID(id string) string {
	for _, known := range []string{"c1", "c2", "call_1"} {
		if openai.NineCharacters(known) == id {
			return known
		}
	}
	return id
}

func mistralRules(_ *http.Request, raw []byte) string {
	if wrong := onlyKnows(raw, "model", "messages", "stream", "max_tokens", "random_seed", "stop", "temperature", "top_p",
		"response_format", "tools", "tool_choice", "parallel_tool_calls", "safe_prompt", "reasoning_effort"); wrong != "" {
		return wrong
	}
	var b body
	if err := json.Unmarshal(raw, &b); err != nil {
		return err.Error()
	}
	for _, t := range b.Tools {
		if t.Function.Parameters == nil {
			return "tools.function.parameters: Field required"
		}
	}
	var last model.Role
	for _, m := range b.Messages {
		ids := []string{m.ToolCallID}
		for _, c := range m.ToolCalls {
			ids = append(ids, c.ID)
		}
		for _, id := range ids {
			if id != "" && !nine.MatchString(id) {
				return fmt.Sprintf("Tool call id was %s but must be a-z, A-Z, 0-9, with a length of 9.", id)
			}
		}
		if last == model.ToolRole && m.Role != model.ToolRole && m.Role != model.Assistant {
			return fmt.Sprintf("Unexpected role '%s' after role 'tool'", m.Role)
		}
		last = m.Role
	}
	return ""
}

func TestMistralConformance(t *testing.T) {
	enginetest.ModelSuite(t, func(t *testing.T, script *enginetest.ModelScript, set model.Settings) model.Model {
		c := mistralDefaults()
		set.BaseURL = newServer(t, script, mistralServer())
		return built(t)(openai.NewMistral(&c, set, modelhttptest.DisableWaits))
	})
}

func TestIDsOfNineCharacters(t *testing.T) {
	seen := map[string]string{}
	for _, id := range []string{"", "c1", "c2", "call_0", "call_1", "toolu_01A09q90qw90lq917835lq9", "D681PevK", "D681PevKs", "123456789", "ähnlich!!", strings.Repeat("x", 1000)} {
		got := openai.NineCharacters(id)
		if !nine.MatchString(got) || got != openai.NineCharacters(id) {
			t.Errorf("%q became %q", id, got)
		}
		if other, ok := seen[got]; ok {
			t.Errorf("%q and %q are both %s", id, other, got)
		}
		seen[got] = id
	}
	if got := openai.NineCharacters("D681PevKs"); got != "D681PevKs" {
		t.Errorf("the platform's own id became %s", got)
	}
	if bytes.Contains([]byte(openai.NineCharacters("call_0")), []byte("call")) {
		t.Error("an id was cut, not digested")
	}
}
