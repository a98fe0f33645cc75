package langchain_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/enginetest"
	"github.com/pexctl/pex/internal/wire"
	"github.com/pexctl/pex/providers/langchain"
)

// protocol is how the server of a backend understands requests and answers them.
type protocol struct {
	path   string // where it is asked, up to the model's name
	key    func(r *http.Request) string
	asked  func(t *testing.T, raw []byte) enginetest.Asked
	answer func(r engine.Reply) any
	events func(r engine.Reply) []string // nil = it does not stream
}

// server speaks a protocol for a script of the suite.
type server struct {
	t      *testing.T
	script *enginetest.ModelScript
	speaks protocol
	ended  chan struct{} // closed when the test ends
}

func newServer(t *testing.T, script *enginetest.ModelScript, p protocol) string {
	t.Helper()
	s := &server{t: t, script: script, speaks: p, ended: make(chan struct{})}
	h := httptest.NewServer(s)
	t.Cleanup(func() { close(s.ended); h.Close() })
	return h.URL
}

func noWaits(s *wire.Settings) {
	s.Sleep = func(ctx context.Context, _ time.Duration) error { return ctx.Err() }
}

// of is the config of a backend.
func of(backend string) langchain.Config {
	c := *langchain.LangChain.Config().(*langchain.Config)
	if c.Backend = backend; backend == "cloudflare" {
		c.AccountID = component.Template{Text: "acc"}
	}
	return c
}

// at makes a model of a server at an address, whose waits take no time.
func at(t testing.TB, base string, c langchain.Config, set engine.ModelSettings) engine.Model {
	t.Helper()
	set.BaseURL = base
	m, err := langchain.New(&c, set, noWaits)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// conforms runs the suite on a backend.
func conforms(t *testing.T, backend string, p protocol, skip ...string) {
	t.Helper()
	enginetest.ModelSuite(t, func(t *testing.T, script *enginetest.ModelScript, set engine.ModelSettings) engine.Model {
		return at(t, newServer(t, script, p), of(backend), set)
	}, skip...)
}

func bearer(r *http.Request) string {
	return strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client is gone
	}
	rest, ok := strings.CutPrefix(r.URL.Path, s.speaks.path)
	if !ok {
		s.t.Errorf("asked at %s", r.URL.Path)
	}
	key := bearer
	if s.speaks.key != nil {
		key = s.speaks.key
	}
	if got := key(r); got != "sk-a-secret-of-the-suite" {
		s.t.Errorf("key %q", got)
	}
	a := s.speaks.asked(s.t, raw)
	if rest != "" {
		a.Params.Model = rest
	}
	x := s.script.Next(a)
	switch {
	case x.Status != 0:
		refuse(w, x)
	case x.Hang == enginetest.AtOnce:
		s.hang(r)
	case a.Streamed:
		s.stream(w, r, x)
	default:
		s.whole(w, r, x)
	}
}

func refuse(w http.ResponseWriter, x enginetest.Exchange) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Request-Id", x.RequestID)
	if x.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(x.RetryAfter.Seconds())))
	}
	w.WriteHeader(x.Status)
	_ = json.NewEncoder(w).Encode(object("errors", []any{object("code", 1, "message", x.Message)}))
}

func (s *server) whole(w http.ResponseWriter, r *http.Request, x enginetest.Exchange) {
	text, err := json.MarshalIndent(s.speaks.answer(x.Reply), "", "  ") // some clients read line by line
	if err != nil {
		s.t.Error(err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(text)))
	if x.Cut || x.Hang == enginetest.InTheBody {
		_, _ = w.Write(text[:len(text)/2])
		_ = http.NewResponseController(w).Flush()
		if x.Cut {
			panic(http.ErrAbortHandler)
		}
		s.hang(r)
		return
	}
	_, _ = w.Write(text)
}

func (s *server) stream(w http.ResponseWriter, r *http.Request, x enginetest.Exchange) {
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	events := s.speaks.events(x.Reply)
	if x.Cut || x.Hang == enginetest.InTheBody {
		events = events[:len(events)/2]
	}
	fmt.Fprint(w, ": hello\n\n")
	for _, e := range events {
		fmt.Fprintf(w, "event: message\ndata: %s\n\n", e)
		_ = http.NewResponseController(w).Flush()
	}
	if x.Hang == enginetest.InTheBody {
		s.hang(r)
	}
}

// hang falls silent until the client is gone.
func (s *server) hang(r *http.Request) {
	select {
	case <-s.script.Silent:
	default:
		close(s.script.Silent)
	}
	select {
	case <-r.Context().Done():
	case <-s.ended:
	}
}

func object(fields ...any) map[string]any {
	out := map[string]any{}
	for i := 0; i < len(fields); i += 2 {
		out[fields[i].(string)] = fields[i+1]
	}
	return out
}

// counts are the tokens of a reply by these names, nil where there are none.
func counts(u engine.Tokens, input, output string) map[string]any {
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

// said adds what one says in a row as messages; from a system prompt it takes
// the schema that the provider put there.
func said(t *testing.T, a *enginetest.Asked, role engine.ChatRole, texts string) {
	t.Helper()
	for text := range strings.SplitSeq(texts, "\n\n") {
		head, schema, ok := strings.Cut(text, ":\n")
		at := strings.LastIndex(head, "named ")
		if !ok || !strings.HasPrefix(head, "Answer with one JSON value") || at < 0 {
			a.Messages = append(a.Messages, engine.Message{Role: role, Text: engine.Text{text}})
			continue
		}
		a.Schema = &engine.ReplySchema{Schema: json.RawMessage(schema)}
		if _, err := fmt.Sscanf(head[at+len("named "):], "%q", &a.Schema.Name); err != nil {
			t.Errorf("%v: %s", err, head)
		}
	}
}
