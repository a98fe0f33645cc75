package bedrock_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/enginetest"
	"github.com/pexctl/pex/internal/wire"
	"github.com/pexctl/pex/providers/bedrock"
)

// server speaks the protocol of Converse and ConverseStream for a script of the suite.
type server struct {
	t      *testing.T
	script *enginetest.ModelScript
	ended  chan struct{} // closed when the test ends
}

func newServer(t *testing.T, script *enginetest.ModelScript) string {
	t.Helper()
	s := &server{t: t, script: script, ended: make(chan struct{})}
	h := httptest.NewServer(s)
	t.Cleanup(func() { close(s.ended); h.Close() })
	return h.URL
}

// at makes a model of a server at an address, whose waits take no time.
func at(t testing.TB, base string, c bedrock.Config, set engine.ModelSettings) engine.Model {
	t.Helper()
	set.BaseURL = base
	if set.Model == "" {
		set.Model = "m"
	}
	m, err := bedrock.New(&c, set, func(s *wire.Settings) {
		s.Breaker = nil // each server is a test's own
		s.Sleep = func(ctx context.Context, _ time.Duration) error { return ctx.Err() }
	})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func defaults() bedrock.Config { return *bedrock.Bedrock.Config().(*bedrock.Config) }

func TestConformance(t *testing.T) {
	// Converse has no seed, and does not count reasoning: what else these two
	// cases check is checked by tests of this package.
	skip := []string{"parameters", "usage"}
	tests := []struct {
		name   string
		change func(*bedrock.Config)
		skip   []string
	}{
		// Its schemas are closed before they are sent.
		{"Claude", func(c *bedrock.Config) { c.BaseModel = "anthropic.claude-sonnet-4-5-20250929-v1:0" }, []string{"schema"}},
		// Nothing stops it from several calls in one reply.
		{"another model", func(c *bedrock.Config) { c.BaseModel = "amazon.nova-pro-v1:0" }, []string{"tools"}},
		{"answers by a tool", func(c *bedrock.Config) {
			c.BaseModel, c.StructuredOutput = "anthropic.claude-sonnet-4-5-20250929-v1:0", "tool"
		}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			enginetest.ModelSuite(t, func(t *testing.T, script *enginetest.ModelScript, set engine.ModelSettings) engine.Model {
				c := defaults()
				tt.change(&c)
				return at(t, newServer(t, script), c, set)
			}, append(tt.skip, skip...)...)
		})
	}
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client is gone
	}
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	var b body
	if err := json.Unmarshal(raw, &b); err != nil || len(parts) != 3 || parts[0] != "model" || r.Method != http.MethodPost {
		s.t.Errorf("request to %s is not of the protocol: %v: %s", r.URL.Path, err, raw)
		return
	}
	if !strings.HasPrefix(r.Header.Get("Authorization"), "Bearer ") {
		s.t.Errorf("authorization %q", r.Header.Get("Authorization"))
	}
	s.check(b)
	streamed := parts[2] == "converse-stream"
	x := s.script.Next(b.asked(parts[1], streamed))
	switch {
	case x.Status != 0:
		refuse(w, x)
	case x.Hang == enginetest.AtOnce:
		s.hang(r)
	case streamed:
		s.stream(w, r, x)
	default:
		s.whole(w, r, x)
	}
}

// check holds a request to what the real server refuses.
func (s *server) check(b body) {
	calls := false
	for i, m := range b.Messages {
		if want := []string{"user", "assistant"}[i%2]; m.Role != want || len(m.Content) == 0 {
			s.t.Errorf("message %d of %s has %d blocks", i, m.Role, len(m.Content))
		}
		for _, c := range m.Content {
			calls = calls || c.ToolUse != nil || c.ToolResult != nil
			if c.Text != nil && strings.TrimSpace(*c.Text) == "" {
				s.t.Errorf("message %d has a blank text", i)
			}
			if c.ToolResult != nil && (len(c.ToolResult.Content) != 1 || strings.TrimSpace(*c.ToolResult.Content[0].Text) == "") {
				s.t.Errorf("message %d has a blank result", i)
			}
		}
	}
	if calls && b.ToolConfig == nil {
		s.t.Error("a conversation with calls comes without tools")
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

var exceptions = map[int]string{
	400: "ValidationException", 403: "AccessDeniedException", 404: "ResourceNotFoundException",
	429: "ThrottlingException", 500: "InternalServerException", 503: "ServiceUnavailableException",
}

func refuse(w http.ResponseWriter, x enginetest.Exchange) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Amzn-Requestid", x.RequestID)
	if name := exceptions[x.Status]; name != "" {
		w.Header().Set("X-Amzn-Errortype", name+":http://internal.amazon.com/coral/com.amazon.bedrock/")
	}
	if x.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(x.RetryAfter.Seconds())))
	}
	w.WriteHeader(x.Status)
	_ = json.NewEncoder(w).Encode(map[string]string{"message": x.Message})
}

func usage(u engine.Tokens) map[string]int {
	if u.Total() == 0 {
		return nil
	}
	return map[string]int{
		"inputTokens": u.Input - u.Cached, "cacheReadInputTokens": u.Cached, "cacheWriteInputTokens": 0,
		"outputTokens": u.Output, "totalTokens": u.Total(),
	}
}

// stopReason is the protocol's word for why the model stopped.
func stopReason(k engine.StopKind) string {
	switch k {
	case "":
		return string(engine.EndTurn)
	case engine.Guardrail:
		return "guardrail_intervened"
	case engine.EndTurn, engine.ToolUse, engine.MaxTokens, engine.StopSequence, engine.ContentFiltered, engine.Refusal:
	}
	return string(k)
}

// trace is where the protocol names the model that answered, if at all.
func trace(model string) any {
	if model == "" {
		return nil
	}
	return map[string]any{"promptRouter": map[string]string{"invokedModelId": model}}
}

func (s *server) whole(w http.ResponseWriter, r *http.Request, x enginetest.Exchange) {
	m := message{Role: "assistant", Content: []block{}}
	if x.Reply.Text != "" {
		m.Content = append(m.Content, block{Text: &x.Reply.Text})
	}
	for _, c := range x.Reply.Calls {
		m.Content = append(m.Content, block{ToolUse: &toolUse{ToolUseID: c.ID, Name: c.Name, Input: c.Args}})
	}
	text, err := json.Marshal(map[string]any{
		"output": map[string]any{"message": m}, "stopReason": stopReason(x.Reply.Stop), "usage": usage(x.Reply.Usage),
		"metrics": map[string]int{"latencyMs": 1}, "trace": trace(x.Reply.Model),
	})
	if err != nil {
		s.t.Error(err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Amzn-Requestid", x.Reply.ID)
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
	w.Header().Set("Content-Type", "application/vnd.amazon.eventstream")
	w.Header().Set("X-Amzn-Requestid", x.Reply.ID)
	events := frames(x)
	if x.Cut || x.Hang == enginetest.InTheBody {
		events = events[:len(events)/2]
	}
	for _, e := range events {
		_, _ = w.Write(e)
		_ = http.NewResponseController(w).Flush()
	}
	if x.Hang == enginetest.InTheBody {
		s.hang(r)
	}
}
