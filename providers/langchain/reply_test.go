package langchain_test

import (
	"context"
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
		{"cloudflare", "cloudflare", `{"success":true,"result":{"response":"x","usage":{"prompt_tokens":5,"completion_tokens":9}}}`, 0, reply(engine.EndTurn, 5, 9)},
		{"cloudflare's own limit", "cloudflare", `{"result":{"response":"x","usage":{"prompt_tokens":5,"completion_tokens":256}}}`, 0, reply(engine.MaxTokens, 5, 256)},
		{"a limit of ours", "cloudflare", `{"result":{"response":"x","usage":{"prompt_tokens":5,"completion_tokens":300}}}`, 300, reply(engine.MaxTokens, 5, 300)},
		{"more than cloudflare's own limit", "cloudflare", `{"result":{"response":"x","usage":{"prompt_tokens":5,"completion_tokens":300}}}`, 400, reply(engine.EndTurn, 5, 300)},
		{"ernie", "ernie", `{"id":"e","result":"x","finish_reason":"normal","usage":{"prompt_tokens":5,"completion_tokens":9}}`, 0, reply(engine.EndTurn, 5, 9, "e")},
		{"ernie cut", "ernie", `{"result":"x","is_truncated":true,"usage":{"prompt_tokens":5,"completion_tokens":9}}`, 0, reply(engine.MaxTokens, 5, 9)},
		{"ernie filtered", "ernie", `{"result":"x","finish_reason":"content_filter","usage":{"prompt_tokens":5,"completion_tokens":9}}`, 0, reply(engine.ContentFiltered, 5, 9)},
		{"ernie stopped", "ernie", `{"result":"x","finish_reason":"stop","usage":{"prompt_tokens":5,"completion_tokens":9}}`, 0, reply(engine.StopSequence, 5, 9)},
		{"huggingface", "huggingface", `{"id":"h","model":"m2","choices":[{"message":{"content":"x"},"finish_reason":"length"}],"usage":{"prompt_tokens":5,"completion_tokens":9}}`, 0, reply(engine.MaxTokens, 5, 9, "h", "m2")},
		{"huggingface filtered", "huggingface", `{"choices":[{"message":{"content":"x"},"finish_reason":"content_filter"}],"usage":{"prompt_tokens":5,"completion_tokens":9}}`, 0, reply(engine.ContentFiltered, 5, 9)},
		{"huggingface stopped", "huggingface", `{"choices":[{"message":{"content":"x"},"finish_reason":"stop_sequence"}],"usage":{"prompt_tokens":5,"completion_tokens":9}}`, 0, reply(engine.StopSequence, 5, 9)},
		{"llamafile", "llamafile", `{"content":"x","model":"l","stop":true,"stopped_eos":true,"tokens_evaluated":5,"tokens_predicted":9}`, 0, reply(engine.EndTurn, 5, 9, "", "l")},
		{"a prompt that comes back", "llamafile", `{"content":"x","stop":true,"tokens_evaluated":5,"tokens_predicted":9,"prompt":"` + strings.Repeat("x", 600<<10) + `"}`, 0, reply(engine.EndTurn, 5, 9)},
		{"no error", "llamafile", `{"content":"x","error":null,"stop":true,"tokens_evaluated":5,"tokens_predicted":9}`, 0, reply(engine.EndTurn, 5, 9)},
		{"llamafile cut", "llamafile", `{"content":"x","stop":true,"stopped_limit":true,"tokens_evaluated":5,"tokens_predicted":9}`, 0, reply(engine.MaxTokens, 5, 9)},
		{"llamafile stopped", "llamafile", `{"content":"x","stop":true,"stop_type":"word","tokens_evaluated":5,"tokens_predicted":9}`, 0, reply(engine.StopSequence, 5, 9)},
		{"maritaca", "maritaca", `{"answer":"x","model":"s","usage":{"prompt_tokens":5,"completion_tokens":9}}`, 0, reply(engine.EndTurn, 5, 9, "", "s")},
		{"maritaca at the limit", "maritaca", `{"answer":"x","usage":{"prompt_tokens":5,"completion_tokens":9}}`, 9, reply(engine.MaxTokens, 5, 9)},
		{"bytes that are no text", "maritaca", "{\"answer\":\"x\xff\",\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":9}}", 0, engine.Reply{Text: "x\uFFFD", Stop: engine.EndTurn, Usage: engine.Tokens{Input: 5, Output: 9}}},
		{"nothing said, nothing counted", "ernie", `{"result":"","usage":{"prompt_tokens":0,"completion_tokens":0}}`, 0, engine.Reply{Stop: engine.EndTurn, Usage: engine.Tokens{Input: 3}, Estimated: true, Uncounted: true}},
		{"counts that are none", "maritaca", `{"answer":"x","usage":{"prompt_tokens":-5,"completion_tokens":9}}`, 0, engine.Reply{Text: "x", Stop: engine.EndTurn, Usage: engine.Tokens{Input: 3, Output: 1}, Estimated: true, Uncounted: true}},
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
	for _, backend := range []string{"ernie", "huggingface", "maritaca"} {
		var got []engine.Delta
		reply, err := answering(t, backend, 200, "application/json", good[backend]).Generate(t.Context(), ask("How many?"), func(d engine.Delta) { got = append(got, d) })
		if err != nil || len(got) != 1 || got[0].Text != "x" || reply.FirstToken != 0 {
			t.Errorf("%s: %v, %+v, %v", backend, got, reply, err)
		}
	}
}

func TestStreams(t *testing.T) {
	tests := []struct{ name, backend, body, want string }{
		{"cloudflare", "cloudflare", "data: {\"response\":\"a \"}\n\ndata: {\"response\":\"b\",\"p\":\"zz\"}\n\ndata: {\"response\":null,\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":9}}\n\ndata: [DONE]\n\n", "a b"},
		{"the mark of the end in the text", "cloudflare", "data: {\"response\":\"say [DONE] \"}\n\ndata: {\"response\":\"now\",\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":9}}\n\ndata: [DONE]\n\n", "say [DONE] now"},
		{"lines that end in CR LF, and comments", "cloudflare", ": hello\r\n\r\ndata:{\"response\":\"a b\",\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":9}}\r\n\r\ndata: [DONE]", "a b"},
		{"a prompt that comes back", "llamafile", "data: {\"content\":\"a b\",\"stop\":false}\n\ndata: {\"content\":\"\",\"stop\":true,\"prompt\":\"" + strings.Repeat("x", 2<<20) + "\",\"tokens_evaluated\":5,\"tokens_predicted\":9}\n\n", "a b"},
		{"signs of several bytes", "llamafile", "data: {\"content\":\"\\u00fc\\ud83c\\udf3f \",\"stop\":false}\n\ndata: {\"content\":\"ü\xff\",\"stop\":true,\"tokens_evaluated\":5,\"tokens_predicted\":9}\n\n", "ü🌿 ü\uFFFD"},
		{"llamafile", "llamafile", "data: {\"content\":\"a \",\"stop\":false}\n\ndata: {\"content\":\"b\",\"stop\":true,\"tokens_evaluated\":5,\"tokens_predicted\":9}\n\n", "a b"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var said strings.Builder
			got, err := answering(t, tt.backend, 200, "text/event-stream", tt.body).Generate(t.Context(), ask("How many?"), func(d engine.Delta) { said.WriteString(d.Text) })
			if err != nil {
				t.Fatal(err)
			}
			if got.Text != tt.want || said.String() != tt.want || got.Usage != (engine.Tokens{Input: 5, Output: 9}) || got.FirstToken <= 0 || got.FirstToken > got.Latency {
				t.Errorf("reply %+v, deltas %q", got, said.String())
			}
		})
	}
}

func TestFailures(t *testing.T) {
	const asJSON, asEvents = "application/json", "text/event-stream"
	tests := []struct {
		name, backend string
		status        int
		kind, body    string
		want          engine.ErrorKind
		text          string
	}{
		{"a list of errors", "cloudflare", 400, asJSON, `{"success":false,"errors":[{"code":5006,"message":"required properties are missing"}]}`, engine.BadRequest, "required properties are missing"},
		{"errors with status 200", "cloudflare", 200, asJSON, `{"success":false,"errors":[{"code":3040,"message":"no capacity"}],"result":null}`, engine.ServerError, "no capacity"},
		{"the context is full", "cloudflare", 413, asJSON, `{"errors":[{"code":5021,"message":"input exceeded the context window limit"}]}`, engine.ContextTooLong, "context window"},
		{"no such model", "cloudflare", 404, asJSON, `{"errors":[{"message":"no route"}]}`, engine.NotFound, "for model m"},
		{"an answer of OpenAI's", "cloudflare", 200, asJSON, `{"success":true,"result":{"choices":[{"message":{"content":"x"}}]}}`, engine.BadReply, "use provider openai"},
		{"JSON for text", "cloudflare", 200, asJSON, `{"result":{"response":{"a":1}}}`, engine.BadReply, "no text"},
		{"an answer where a stream was asked for", "cloudflare", 200, asJSON, good["cloudflare"], engine.BadReply, "event stream"},
		{"a stream without its end", "cloudflare", 200, asEvents, "data: {\"response\":\"a\"}\n\n", engine.Truncated, "ended before"},
		{"an event that is none", "cloudflare", 200, asEvents, "data: {\"response\":[]}\n\ndata: [DONE]\n\n", engine.BadReply, "none of Workers AI"},
		{"a stream without its end", "llamafile", 200, asEvents, "data: {\"content\":\"a\",\"stop\":false}\n\n", engine.Truncated, "ended before"},
		{"an error in a stream", "llamafile", 200, asEvents, "data: {\"error\":{\"message\":\"the request exceeds the available context size\"}}\n\n", engine.ContextTooLong, "exceeds"},
		{"the rate", "ernie", 200, asJSON, `{"error_code":18,"error_msg":"Open api qps request limit reached"}`, engine.RateLimited, "qps"},
		{"the token", "ernie", 200, asJSON, `{"error_code":110,"error_msg":"Access token invalid or no longer valid"}`, engine.AuthError, "Access token"},
		{"too much said", "ernie", 200, asJSON, `{"error_code":336103,"error_msg":"Prompt tokens too long"}`, engine.ContextTooLong, "too long"},
		{"a server that fails", "ernie", 200, asJSON, `{"error_code":336000,"error_msg":"Internal error"}`, engine.ServerError, "Internal"},
		{"no such model", "ernie", 200, asJSON, `{"error_code":3,"error_msg":"Unsupported openapi method"}`, engine.NotFound, "Unsupported"},
		{"words that say more", "ernie", 200, asJSON, `{"error_code":336999,"error_msg":"no such model"}`, engine.NotFound, "no such"},
		{"a refusal of its own form", "ernie", 400, asJSON, `{"error_code":336003,"error_msg":"the max length of messages is 1"}`, engine.BadRequest, "max length"},
		{"a wrong value", "ernie", 200, asJSON, `{"error_code":336003,"error_msg":"temperature is out of range"}`, engine.BadRequest, "out of range"},
		{"a detail", "maritaca", 422, asJSON, `{"detail":"bad model"}`, engine.BadRequest, "bad model"},
		{"a key in an error", "huggingface", 401, asJSON, `{"error":"bad token sk-secret"}`, engine.AuthError, "bad token"},
		{"a page", "huggingface", 502, "text/html", "<html>\n<h1>Bad Gateway</h1></html>", engine.ServerError, "<html> <h1>Bad Gateway"},
		{"a page for an answer", "maritaca", 200, "text/html", "<html><h1>Log in</h1></html>", engine.BadReply, "none of Maritaca's: <html><h1>Log in"},
		{"no choices", "huggingface", 200, asJSON, `{"id":"h","choices":[]}`, engine.BadReply, "none of chat completions"},
		{"a choice without a message", "huggingface", 200, asJSON, `{"choices":[{"finish_reason":"stop"}]}`, engine.BadReply, "none of chat completions"},
		{"an empty answer", "ernie", 200, asJSON, "", engine.BadReply, "none of Qianfan's"},
		{"words on a key", "maritaca", 401, asJSON, `{"detail":"the key is too long"}`, engine.AuthError, "too long"},
		{"words on a rate", "huggingface", 429, asJSON, `{"error":"too many tokens per minute"}`, engine.RateLimited, "per minute"},
		{"words on a failure", "llamafile", 500, asJSON, `{"error":{"message":"the request exceeds the available context size"}}`, engine.ContextTooLong, "exceeds"},
		{"a stream of OpenAI's", "cloudflare", 200, asEvents, "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\ndata: [DONE]\n\n", engine.BadReply, "use provider openai"},
		{"a stream that ends in a line", "cloudflare", 200, asEvents, "data: {\"response\":\"a\"}\n\ndata: {\"resp", engine.Truncated, "ended before"},
		{"an error of older servers in a stream", "llamafile", 200, asEvents, "data: {\"content\":\"a\"}\n\nerror: {\"code\":400,\"message\":\"the request exceeds the available context size\"}\n\n", engine.ContextTooLong, "exceeds"},
		{"a stream without end", "llamafile", 200, asEvents, strings.Repeat("data: {\"content\":\""+strings.Repeat("x", 100<<10)+"\"}\n\n", 50), engine.BadReply, "the reply is longer"},
		{"a line too long for the client", "maritaca", 200, asJSON, `{"answer":"` + strings.Repeat("x", 600<<10) + `"}`, engine.BadReply, "too long"},
	}
	for _, tt := range tests {
		t.Run(tt.backend+" "+tt.name, func(t *testing.T) {
			var stream func(engine.Delta)
			if tt.kind == asEvents || strings.Contains(tt.text, "event stream") {
				stream = func(engine.Delta) {}
			}
			reply, err := answering(t, tt.backend, tt.status, tt.kind, tt.body).Generate(t.Context(), ask("How many?"), stream)
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
		{"tools", "huggingface", func(r *engine.Request, _ *langchain.Config, _ *engine.ModelSettings) {
			r.Tools = []engine.ToolDef{{Name: "find"}}
		}, engine.BadRequest, "executor.mode: react_text"},
		{"stop", "cloudflare", func(r *engine.Request, _ *langchain.Config, _ *engine.ModelSettings) { r.Params.Stop = []string{"END"} }, engine.BadRequest, "leave stop out"},
		{"no key", "maritaca", func(_ *engine.Request, _ *langchain.Config, s *engine.ModelSettings) { s.APIKey = "" }, engine.AuthError, "MARITACA_API_KEY"},
		{"no account", "cloudflare", func(_ *engine.Request, c *langchain.Config, _ *engine.ModelSettings) {
			c.AccountID.Bind(func(component.Lookup) []string { return []string{""} }) // of a variable that is not set
		}, engine.BadRequest, "options.account_id"},
		{"a body that is no JSON", "maritaca", func(_ *engine.Request, c *langchain.Config, _ *engine.ModelSettings) {
			c.ExtraBody = map[string]any{"x": math.NaN()}
		}, engine.BadRequest, "options.extra_body"},
		{"no model for cloudflare", "cloudflare", func(_ *engine.Request, _ *langchain.Config, s *engine.ModelSettings) { s.Model = "" }, engine.BadRequest, "no model"},
		{"no model for huggingface", "huggingface", func(_ *engine.Request, _ *langchain.Config, s *engine.ModelSettings) { s.Model = "" }, engine.BadRequest, "no model"},
		{"no model for maritaca", "maritaca", func(_ *engine.Request, _ *langchain.Config, s *engine.ModelSettings) { s.Model = "" }, engine.BadRequest, "no model"},
		{"no model", "ernie", func(_ *engine.Request, _ *langchain.Config, s *engine.ModelSettings) { s.Model = "" }, engine.BadRequest, "no model"},
		{"a schema that is no JSON", "ernie", func(r *engine.Request, _ *langchain.Config, _ *engine.ModelSettings) {
			r.Schema = &engine.ReplySchema{Name: "plan", Schema: []byte("{")}
		}, engine.BadRequest, "plan is no JSON"},
		{"nothing said", "llamafile", func(r *engine.Request, _ *langchain.Config, _ *engine.ModelSettings) {
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
	account := component.Template{Text: "acc"}
	tests := []struct {
		name   string
		config langchain.Config
		base   string
		at     string
		text   string
	}{
		{"no backend", langchain.Config{}, "", "/options/backend", "write one of cloudflare, ernie, huggingface, llamafile, maritaca"},
		{"one that is not here", langchain.Config{Backend: "watsonx"}, "", "/options/backend", "none of the backends"},
		{"no address", langchain.Config{Backend: "ernie"}, "qianfan", "/base_url", "base_url is no http or https address"},
		{"no account", langchain.Config{Backend: "cloudflare"}, "", "/options/account_id", "${env.CLOUDFLARE_ACCOUNT_ID}"},
		{"an account for nobody", langchain.Config{Backend: "ernie", AccountID: account}, "", "/options/account_id", "knows no account_id"},
		{"an inference provider for nobody", langchain.Config{Backend: "ernie", InferenceProvider: "x"}, "", "/options/inference_provider", "knows no inference_provider"},
		{"a header that is none", langchain.Config{Backend: "ernie", Headers: map[string]component.Template{"a b": account}}, "", "/options/headers/a b", "name of a header"},
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

// A stream that a person ends in a delta gives no reply.
func TestCancelInADelta(t *testing.T) {
	for _, backend := range []string{"cloudflare", "llamafile"} {
		body := map[string]string{
			"cloudflare": "data: {\"response\":\"a\"}\n\ndata: {\"response\":\"b\"}\n\ndata: [DONE]\n\n",
			"llamafile":  "data: {\"content\":\"a\"}\n\ndata: {\"content\":\"b\",\"stop\":true}\n\n",
		}[backend]
		ctx, cancel := context.WithCancel(t.Context())
		n := 0
		reply, err := answering(t, backend, 200, "text/event-stream", body).Generate(ctx, ask("How many?"), func(engine.Delta) { n++; cancel() })
		if reply != nil || !errors.Is(err, context.Canceled) || n != 1 {
			t.Errorf("%s: reply %+v, error %v, %d deltas", backend, reply, err, n)
		}
	}
}
