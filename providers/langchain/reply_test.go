package langchain_test

import (
	"errors"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/providers/langchain"
)

// answering makes a model of a server that gives one answer.
func answering(t *testing.T, backend string, status int, kind, body string) engine.Model {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}))
	t.Cleanup(s.Close)
	return at(t, s.URL, of(backend), engine.ModelSettings{Model: "m", APIKey: "sk-secret"})
}

func TestReplies(t *testing.T) {
	reply := func(stop engine.StopKind, input, output int, more ...string) engine.Reply {
		r := engine.Reply{Text: "x", Stop: stop, Usage: engine.Tokens{Input: input, Output: output}}
		if len(more) > 0 {
			r.ID = more[0]
		}
		if len(more) > 1 {
			r.Model = more[1]
		}
		return r
	}
	tests := []struct {
		name, backend, body string
		most                int
		want                engine.Reply
	}{
		{"ernie", "ernie", `{"id":"e","result":"x","finish_reason":"normal","usage":{"prompt_tokens":5,"completion_tokens":9}}`, 0, reply(engine.EndTurn, 5, 9, "e")},
		{"ernie cut", "ernie", `{"result":"x","is_truncated":true,"usage":{"prompt_tokens":5,"completion_tokens":9}}`, 0, reply(engine.MaxTokens, 5, 9)},
		{"ernie filtered", "ernie", `{"result":"x","finish_reason":"content_filter","usage":{"prompt_tokens":5,"completion_tokens":9}}`, 0, reply(engine.ContentFiltered, 5, 9)},
		{"ernie stopped", "ernie", `{"result":"x","finish_reason":"stop","usage":{"prompt_tokens":5,"completion_tokens":9}}`, 0, reply(engine.StopSequence, 5, 9)},
		{"a limit that is met", "ernie", `{"result":"x","usage":{"prompt_tokens":5,"completion_tokens":9}}`, 9, reply(engine.MaxTokens, 5, 9)},
		{"bytes that are no text", "ernie", "{\"result\":\"x\xff\",\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":9}}", 0, engine.Reply{Text: "x\uFFFD", Stop: engine.EndTurn, Usage: engine.Tokens{Input: 5, Output: 9}}},
		{"nothing said, nothing counted", "ernie", `{"result":"","usage":{"prompt_tokens":0,"completion_tokens":0}}`, 0, engine.Reply{Stop: engine.EndTurn, Usage: engine.Tokens{Input: 3}, Estimated: true, Uncounted: true}},
		{"counts that are none", "ernie", `{"result":"x","usage":{"prompt_tokens":-5,"completion_tokens":9}}`, 0, engine.Reply{Text: "x", Stop: engine.EndTurn, Usage: engine.Tokens{Input: 3, Output: 1}, Estimated: true, Uncounted: true}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			req := ask("How many?")
			req.Params.MaxOutputTokens = tt.most
			got, err := answering(t, tt.backend, 200, "application/json", tt.body).Generate(t.Context(), req, nil)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, *got, cmpopts.IgnoreFields(engine.Reply{}, "Latency")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Where the client does not stream, a stream is the whole reply at the end.
func TestWholeRepliesAreOneDelta(t *testing.T) {
	for _, backend := range []string{"ernie"} {
		var got []engine.Delta
		reply, err := answering(t, backend, 200, "application/json", good[backend]).Generate(t.Context(), ask("How many?"), func(d engine.Delta) { got = append(got, d) })
		if err != nil || len(got) != 1 || got[0].Text != "x" || reply.FirstToken != 0 {
			t.Errorf("%s: %v, %+v, %v", backend, got, reply, err)
		}
	}
}

func TestFailures(t *testing.T) {
	const asJSON = "application/json"
	tests := []struct {
		name, backend string
		status        int
		kind, body    string
		want          engine.ErrorKind
		text          string
	}{
		{"no route", "ernie", 404, asJSON, `{"error_msg":"no route"}`, engine.NotFound, "for model m"},
		{"the rate", "ernie", 200, asJSON, `{"error_code":18,"error_msg":"Open api qps request limit reached"}`, engine.RateLimited, "qps"},
		{"the token", "ernie", 200, asJSON, `{"error_code":110,"error_msg":"Access token invalid or no longer valid"}`, engine.AuthError, "Access token"},
		{"too much said", "ernie", 200, asJSON, `{"error_code":336103,"error_msg":"Prompt tokens too long"}`, engine.ContextTooLong, "too long"},
		{"a server that fails", "ernie", 200, asJSON, `{"error_code":336000,"error_msg":"Internal error"}`, engine.ServerError, "Internal"},
		{"no such model", "ernie", 200, asJSON, `{"error_code":3,"error_msg":"Unsupported openapi method"}`, engine.NotFound, "Unsupported"},
		{"words that say more", "ernie", 200, asJSON, `{"error_code":336999,"error_msg":"no such model"}`, engine.NotFound, "no such"},
		{"a refusal of its own form", "ernie", 400, asJSON, `{"error_code":336003,"error_msg":"the max length of messages is 1"}`, engine.BadRequest, "max length"},
		{"a wrong value", "ernie", 200, asJSON, `{"error_code":336003,"error_msg":"temperature is out of range"}`, engine.BadRequest, "out of range"},
		{"a key in an error", "ernie", 401, asJSON, `{"error":"bad token sk-secret"}`, engine.AuthError, "bad token"},
		{"a page", "ernie", 502, "text/html", "<html>\n<h1>Bad Gateway</h1></html>", engine.ServerError, "<html> <h1>Bad Gateway"},
		{"a page for an answer", "ernie", 200, "text/html", "<html><h1>Log in</h1></html>", engine.BadReply, "none of Qianfan's: <html><h1>Log in"},
		{"an empty answer", "ernie", 200, asJSON, "", engine.BadReply, "none of Qianfan's"},
		{"words on a key", "ernie", 401, asJSON, `{"error_msg":"the key is too long"}`, engine.AuthError, "too long"},
		{"words on a rate", "ernie", 429, asJSON, `{"error_msg":"too many tokens per minute"}`, engine.RateLimited, "per minute"},
		{"words on a failure", "ernie", 500, asJSON, `{"error":{"message":"the request exceeds the available context size"}}`, engine.ContextTooLong, "exceeds"},
	}
	for _, tt := range tests {
		t.Run(tt.backend+" "+tt.name, func(t *testing.T) {
			reply, err := answering(t, tt.backend, tt.status, tt.kind, tt.body).Generate(t.Context(), ask("How many?"), nil)
			var e *engine.ModelError
			if reply != nil || !errors.As(err, &e) || e.Kind != tt.want || !strings.Contains(e.Message, tt.text) {
				t.Fatalf("reply %+v, error %v", reply, err)
			}
			if strings.Contains(err.Error(), "sk-secret") {
				t.Errorf("the key is shown: %v", err)
			}
		})
	}
}

func TestRequestsThatCannotBePut(t *testing.T) {
	tests := []struct {
		name, backend string
		change        func(*engine.Request, *langchain.Config, *engine.ModelSettings)
		want          engine.ErrorKind
		text          string
	}{
		{"tools", "ernie", func(r *engine.Request, _ *langchain.Config, _ *engine.ModelSettings) {
			r.Tools = []engine.ToolDef{{Name: "find"}}
		}, engine.BadRequest, "executor.mode: react_text"},
		{"no key", "ernie", func(_ *engine.Request, _ *langchain.Config, s *engine.ModelSettings) { s.APIKey = "" }, engine.AuthError, "ERNIE_ACCESS_TOKEN"},
		{"a body that is no JSON", "ernie", func(_ *engine.Request, c *langchain.Config, _ *engine.ModelSettings) {
			c.ExtraBody = map[string]any{"x": math.NaN()}
		}, engine.BadRequest, "options.extra_body"},
		{"no model", "ernie", func(_ *engine.Request, _ *langchain.Config, s *engine.ModelSettings) { s.Model = "" }, engine.BadRequest, "no model"},
		{"a schema that is no JSON", "ernie", func(r *engine.Request, _ *langchain.Config, _ *engine.ModelSettings) {
			r.Schema = &engine.ReplySchema{Name: "plan", Schema: []byte("{")}
		}, engine.BadRequest, "plan is no JSON"},
		{"nothing said", "ernie", func(r *engine.Request, _ *langchain.Config, _ *engine.ModelSettings) {
			r.Messages = []engine.Message{{Role: engine.System, Text: engine.Text{"Be brief."}}}
		}, engine.BadRequest, "asked nothing"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			req, c, set := ask("How many?"), of(tt.backend), engine.ModelSettings{Model: "m", APIKey: "k"}
			tt.change(req, &c, &set)
			reply, err := at(t, "http://127.0.0.1:1", c, set).Generate(t.Context(), req, nil)
			var e *engine.ModelError
			if reply != nil || !errors.As(err, &e) || e.Kind != tt.want || !strings.Contains(e.Message, tt.text) {
				t.Errorf("reply %+v, error %v", reply, err)
			}
		})
	}
}

func TestOptionsThatMakeNoModel(t *testing.T) {
	value := component.Template{Text: "v"}
	tests := []struct {
		name   string
		config langchain.Config
		base   string
		at     string
		text   string
	}{
		{"no backend", langchain.Config{}, "", "/options/backend", "write ernie"},
		{"one that is not here", langchain.Config{Backend: "watsonx"}, "", "/options/backend", "none of the backends"},
		{"no address", langchain.Config{Backend: "ernie"}, "qianfan", "/base_url", "base_url is no http or https address"},
		{"a header that is none", langchain.Config{Backend: "ernie", Headers: map[string]component.Template{"a b": value}}, "", "/options/headers/a b", "name of a header"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := langchain.Build(&tt.config, engine.ModelSettings{BaseURL: tt.base})
			faults, ok := errors.AsType[component.Faults](err)
			if !ok || len(faults) != 1 || faults[0].At != tt.at || !strings.Contains(faults[0].Message+": "+faults[0].Hint, tt.text) {
				t.Errorf("error %#v", err)
			}
		})
	}
}
