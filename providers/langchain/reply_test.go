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
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/providers/langchain"
)

// answering builds a model of a server that always returns the same response.
func answering(t *testing.T, backend string, status int, kind, body string) model.Model {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}))
	t.Cleanup(s.Close)
	return at(t, s.URL, of(backend), model.Settings{Model: "m", APIKey: "sk-secret"})
}

func TestReplies(t *testing.T) {
	reply := func(stop model.StopReason, input, output int, more ...string) model.Reply {
		r := model.Reply{Text: "x", Stop: stop, Usage: model.Tokens{Input: input, Output: output}}
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
		want                model.Reply
	}{
		{"ernie", "ernie", `{"id":"e","result":"x","finish_reason":"normal","usage":{"prompt_tokens":5,"completion_tokens":9}}`, 0, reply(model.EndTurn, 5, 9, "e")},
		{"ernie truncated", "ernie", `{"result":"x","is_truncated":true,"usage":{"prompt_tokens":5,"completion_tokens":9}}`, 0, reply(model.MaxTokens, 5, 9)},
		{"ernie filtered", "ernie", `{"result":"x","finish_reason":"content_filter","usage":{"prompt_tokens":5,"completion_tokens":9}}`, 0, reply(model.ContentFiltered, 5, 9)},
		{"ernie stopped", "ernie", `{"result":"x","finish_reason":"stop","usage":{"prompt_tokens":5,"completion_tokens":9}}`, 0, reply(model.StopSequence, 5, 9)},
		{"at the limit", "ernie", `{"result":"x","usage":{"prompt_tokens":5,"completion_tokens":9}}`, 9, reply(model.MaxTokens, 5, 9)},
		{"invalid UTF-8", "ernie", "{\"result\":\"x\xff\",\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":9}}", 0, model.Reply{Text: "x\uFFFD", Stop: model.EndTurn, Usage: model.Tokens{Input: 5, Output: 9}}},
		{"an empty reply without counts", "ernie", `{"result":"","usage":{"prompt_tokens":0,"completion_tokens":0}}`, 0, model.Reply{Stop: model.EndTurn, Usage: model.Tokens{Input: 3}, Estimated: true, Uncounted: true}},
		{"implausible counts", "ernie", `{"result":"x","usage":{"prompt_tokens":-5,"completion_tokens":9}}`, 0, model.Reply{Text: "x", Stop: model.EndTurn, Usage: model.Tokens{Input: 3, Output: 1}, Estimated: true, Uncounted: true}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			req := ask("How many?")
			req.Params.MaxOutputTokens = tt.most
			got, err := answering(t, tt.backend, 200, "application/json", tt.body).Generate(t.Context(), req, nil)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, *got, cmpopts.IgnoreFields(model.Reply{}, "Latency")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// The client does not stream, so a stream is the complete reply at the end.
func TestStreamIsOneDelta(t *testing.T) {
	for _, backend := range []string{"ernie"} {
		var got []model.Delta
		reply, err := answering(t, backend, 200, "application/json", good[backend]).Generate(t.Context(), ask("How many?"), func(d model.Delta) { got = append(got, d) })
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
		want          model.ErrorKind
		text          string
	}{
		{"no route", "ernie", 404, asJSON, `{"error_msg":"no route"}`, model.NotFound, "model m at"},
		{"rate limit", "ernie", 200, asJSON, `{"error_code":18,"error_msg":"Open api qps request limit reached"}`, model.RateLimited, "qps"},
		{"invalid token", "ernie", 200, asJSON, `{"error_code":110,"error_msg":"Access token invalid or no longer valid"}`, model.AuthError, "Access token"},
		{"prompt too long", "ernie", 200, asJSON, `{"error_code":336103,"error_msg":"Prompt tokens too long"}`, model.ContextTooLong, "too long"},
		{"a server that fails", "ernie", 200, asJSON, `{"error_code":336000,"error_msg":"Internal error"}`, model.ServerError, "Internal"},
		{"no such model", "ernie", 200, asJSON, `{"error_code":3,"error_msg":"Unsupported openapi method"}`, model.NotFound, "Unsupported"},
		{"a specific text", "ernie", 200, asJSON, `{"error_code":336999,"error_msg":"no such model"}`, model.NotFound, "no such"},
		{"an error in Qianfan's format", "ernie", 400, asJSON, `{"error_code":336003,"error_msg":"the max length of messages is 1"}`, model.BadRequest, "max length"},
		{"a wrong value", "ernie", 200, asJSON, `{"error_code":336003,"error_msg":"temperature is out of range"}`, model.BadRequest, "out of range"},
		{"a key in an error", "ernie", 401, asJSON, `{"error":"bad token sk-secret"}`, model.AuthError, "bad token"},
		{"a page", "ernie", 502, "text/html", "<html>\n<h1>Bad Gateway</h1></html>", model.ServerError, "<html> <h1>Bad Gateway"},
		{"a page instead of a reply", "ernie", 200, "text/html", "<html><h1>Log in</h1></html>", model.BadReply, "not in Qianfan's format: <html><h1>Log in"},
		{"an empty reply", "ernie", 200, asJSON, "", model.BadReply, "not in Qianfan's format"},
		{"text of an authentication error", "ernie", 401, asJSON, `{"error_msg":"the key is too long"}`, model.AuthError, "too long"},
		{"text of a rate limit", "ernie", 429, asJSON, `{"error_msg":"too many tokens per minute"}`, model.RateLimited, "per minute"},
		{"text of a server error", "ernie", 500, asJSON, `{"error":{"message":"the request exceeds the available context size"}}`, model.ContextTooLong, "exceeds"},
	}
	for _, tt := range tests {
		t.Run(tt.backend+" "+tt.name, func(t *testing.T) {
			reply, err := answering(t, tt.backend, tt.status, tt.kind, tt.body).Generate(t.Context(), ask("How many?"), nil)
			var e *model.Error
			if reply != nil || !errors.As(err, &e) || e.Kind != tt.want || !strings.Contains(e.Message, tt.text) {
				t.Fatalf("reply %+v, error %v", reply, err)
			}
			if strings.Contains(err.Error(), "sk-secret") {
				t.Errorf("the key is shown: %v", err)
			}
		})
	}
}

func TestInvalidRequestIsNotSent(t *testing.T) {
	tests := []struct {
		name, backend string
		change        func(*model.Request, *langchain.Config, *model.Settings)
		want          model.ErrorKind
		text          string
	}{
		{"tools", "ernie", func(r *model.Request, _ *langchain.Config, _ *model.Settings) {
			r.Tools = []model.ToolDef{{Name: "find"}}
		}, model.BadRequest, "executor.mode: react_text"},
		{"no key", "ernie", func(_ *model.Request, _ *langchain.Config, s *model.Settings) { s.APIKey = "" }, model.AuthError, "ERNIE_ACCESS_TOKEN"},
		{"a body that cannot be encoded", "ernie", func(_ *model.Request, c *langchain.Config, _ *model.Settings) {
			c.ExtraBody = map[string]any{"x": math.NaN()}
		}, model.BadRequest, "options.extra_body"},
		{"no model", "ernie", func(_ *model.Request, _ *langchain.Config, s *model.Settings) { s.Model = "" }, model.BadRequest, "no model"},
		{"a schema that is not JSON", "ernie", func(r *model.Request, _ *langchain.Config, _ *model.Settings) {
			r.Schema = &model.ReplySchema{Name: "plan", Schema: []byte("{")}
		}, model.BadRequest, "plan is not valid JSON"},
		{"no message", "ernie", func(r *model.Request, _ *langchain.Config, _ *model.Settings) {
			r.Messages = []model.Message{{Role: model.System, Text: model.Text{"Be brief."}}}
		}, model.BadRequest, "no message except"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			req, c, set := ask("How many?"), of(tt.backend), model.Settings{Model: "m", APIKey: "k"}
			tt.change(req, &c, &set)
			reply, err := at(t, "http://127.0.0.1:1", c, set).Generate(t.Context(), req, nil)
			var e *model.Error
			if reply != nil || !errors.As(err, &e) || e.Kind != tt.want || !strings.Contains(e.Message, tt.text) {
				t.Errorf("reply %+v, error %v", reply, err)
			}
		})
	}
}

func TestInvalidOptions(t *testing.T) {
	value := component.Template{Text: "v"}
	tests := []struct {
		name   string
		config langchain.Config
		base   string
		at     string
		text   string
	}{
		{"no backend", langchain.Config{}, "", "/options/backend", "backend: ernie"},
		{"unknown backend", langchain.Config{Backend: "watsonx"}, "", "/options/backend", "is not set or unknown"},
		{"no address", langchain.Config{Backend: "ernie"}, "qianfan", "/base_url", "base_url is not an http or https URL"},
		{"an invalid header", langchain.Config{Backend: "ernie", Headers: map[string]component.Template{"a b": value}}, "", "/options/headers/a b", "valid header name"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := langchain.Build(&tt.config, model.Settings{BaseURL: tt.base})
			faults, ok := errors.AsType[component.Faults](err)
			if !ok || len(faults) != 1 || faults[0].At != tt.at || !strings.Contains(faults[0].Message+": "+faults[0].Hint, tt.text) {
				t.Errorf("error %#v", err)
			}
		})
	}
}
