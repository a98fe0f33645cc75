package langchain_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/pexctl/pex/engine/enginetest"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/providers/langchain"
	"github.com/pexctl/pex/providers/modelhttp/modelhttptest"
)

// protocol defines the requests and replies of a backend's server.
type protocol struct {
	path         string // of requests, up to the model's name
	key          func(r *http.Request) string
	parseRequest func(t *testing.T, raw []byte) enginetest.ReceivedRequest
	answer       func(r model.Reply) any
	events       func(r model.Reply) []string // nil = no streaming
}

// of returns the config of a backend.
func of(backend string) langchain.Config {
	c := *langchain.LangChain.Config().(*langchain.Config)
	c.Backend = backend
	return c
}

// at builds a model of a server, without waits between attempts.
func at(t testing.TB, base string, c langchain.Config, set model.Settings) model.Model {
	t.Helper()
	set.BaseURL = base
	m, err := langchain.New(&c, set, modelhttptest.DisableWaits)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// conforms runs the conformance suite for a backend.
func conforms(t *testing.T, backend string, p protocol, skip ...string) {
	t.Helper()
	enginetest.ModelSuite(t, func(t *testing.T, script *enginetest.ModelScript, set model.Settings) model.Model {
		return at(t, modelhttptest.Serve(t, script, p.speech()), of(backend), set)
	}, skip...)
}

func bearer(r *http.Request) string {
	return strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
}

// speech returns the protocol for modelhttptest.
func (p protocol) speech() modelhttptest.Protocol {
	out := modelhttptest.Protocol{
		ParseRequest: func(t *testing.T, r *http.Request, raw []byte) (enginetest.ReceivedRequest, bool) {
			rest, ok := strings.CutPrefix(r.URL.Path, p.path)
			key := bearer
			if p.key != nil {
				key = p.key
			}
			if got := key(r); got != "sk-a-secret-of-the-suite" {
				t.Errorf("key %q", got)
			}
			a := p.parseRequest(t, raw)
			if rest != "" {
				a.Params.Model = rest
			}
			return a, ok
		},
		ErrorBody: func(h http.Header, x enginetest.Response, _ enginetest.ReceivedRequest) any {
			h.Set("X-Request-Id", x.RequestID)
			return object("errors", []any{object("code", 1, "message", x.Message)})
		},
		ReplyBody: func(_ http.Header, x enginetest.Response) any { return p.answer(x.Reply) },
	}
	if p.events != nil {
		out.Stream = p.stream
	}
	return out
}

func (p protocol) stream(h http.Header, x enginetest.Response) [][]byte {
	h.Set("Content-Type", "text/event-stream; charset=utf-8")
	out := [][]byte{[]byte(": hello\n\n")}
	for _, e := range p.events(x.Reply) {
		out = append(out, fmt.Appendf(nil, "event: message\ndata: %s\n\n", e))
	}
	return out
}

func object(fields ...any) map[string]any {
	out := map[string]any{}
	for i := 0; i < len(fields); i += 2 {
		out[fields[i].(string)] = fields[i+1]
	}
	return out
}

// counts returns token counts under these names, nil if there are none.
func counts(u model.Tokens, input, output string) map[string]any {
	if u.Total() == 0 {
		return nil
	}
	return object(input, u.Input, output, u.Output)
}

// read decodes a request.
func read(t *testing.T, raw []byte, into any) {
	t.Helper()
	if err := json.Unmarshal(raw, into); err != nil {
		t.Errorf("%v: %s", err, raw)
	}
}

// addTexts adds the texts of one role as messages. From a system prompt it extracts the schema that the provider put
// there.
func addTexts(t *testing.T, a *enginetest.ReceivedRequest, role model.Role, texts string) {
	t.Helper()
	for text := range strings.SplitSeq(texts, "\n\n") {
		head, schema, ok := strings.Cut(text, ":\n")
		at := strings.LastIndex(head, "named ")
		if !ok || !strings.HasPrefix(head, "Answer with one JSON value") || at < 0 {
			a.Messages = append(a.Messages, model.Message{Role: role, Text: model.Text{text}})
			continue
		}
		a.Schema = &model.ReplySchema{Schema: json.RawMessage(schema)}
		if _, err := fmt.Sscanf(head[at+len("named "):], "%q", &a.Schema.Name); err != nil {
			t.Errorf("%v: %s", err, head)
		}
	}
}
