package apitest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/goldentest"
	"github.com/pexctl/pex/internal/app/apiclient"
	"github.com/pexctl/pex/server"
)

// talker is the model and the web page of the agent talk. Its first reply does not end, and the
// page is slow.
type talker struct {
	*httptest.Server
	t        *testing.T
	mu       sync.Mutex
	requests []string      // bodies of the model calls
	watched  chan struct{} // closed when the client receives events
	speaking chan struct{} // closed when the first reply has begun
	cut      chan struct{} // closed when the client has ended it
	said     chan struct{} // closed when the page may answer
}

func newTalker(t *testing.T) *talker {
	s := &talker{t: t, watched: make(chan struct{}), speaking: make(chan struct{}), cut: make(chan struct{}), said: make(chan struct{})}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/chat/completions", s.complete)
	mux.HandleFunc("GET /weather", func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-s.said:
		case <-r.Context().Done():
		}
		fmt.Fprint(w, "sunny")
	})
	s.Server = httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

func (s *talker) complete(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	s.mu.Lock()
	s.requests = append(s.requests, string(body))
	n := len(s.requests)
	s.mu.Unlock()
	w.Header().Set("Content-Type", "text/event-stream")
	send := func(delta, finish string) {
		fmt.Fprintf(w, "data: {\"id\": \"c%d\", \"model\": \"talker\", \"choices\": [{\"index\": 0, \"delta\": %s, \"finish_reason\": %s}]}\n\n", n, delta, finish)
		if err := http.NewResponseController(w).Flush(); err != nil {
			s.t.Log(err)
		}
	}
	content := func(text string) string { return `{"content": ` + string(mustJSON(s.t, text)) + `}` }
	switch n {
	case 1:
		<-s.watched    // deltas are not repeated for later watchers
		for range 64 { // the end of a stream is held back: a secret may begin there
			send(content("Let me think.\n"), "null")
		}
		close(s.speaking)
		<-r.Context().Done()
		close(s.cut)
		return
	case 2:
		send(content(`{"steps": ["look"], "result": ""}`), `"stop"`)
	case 3:
		call := map[string]any{"index": 0, "id": "call_1", "type": "function", "function": map[string]string{"name": "look", "arguments": `{"url": "` + s.URL + `/weather"}`}}
		send(string(mustJSON(s.t, map[string]any{"tool_calls": []any{call}})), `"tool_calls"`)
	case 4:
		send(content("It is sunny."), `"stop"`)
	case 5:
		send(content(`{"steps": [], "result": "Sunny in Bergen."}`), `"stop"`)
	default:
		send(content(`{"steps": [], "result": "Goodbye."}`), `"stop"`)
	}
	fmt.Fprint(w, "data: {\"choices\": [], \"usage\": {\"prompt_tokens\": 10, \"completion_tokens\": 2, \"total_tokens\": 12}}\n\ndata: [DONE]\n\n")
}

func mustJSON(t *testing.T, v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		t.Error(err)
	}
	return b
}

// A session has input and output at once: the model replies, the user interrupts, a tool
// works while the user sends another message and the connection breaks, and the next turn follows
// on the same stream.
func TestSessionIsDuplex(t *testing.T) {
	model := newTalker(t)
	t.Setenv("TALK_URL", model.URL)
	l := listen(t, "duplex", roomy, server.Options{}, unchanged)
	c, err := apiclient.New(apiclient.Settings{URL: l.scheme + "://" + l.address, Token: token("ann")})
	if err != nil {
		t.Fatal(err)
	}
	say := func(m apiclient.SessionMessage) {
		t.Helper()
		m.Agent = "talk"
		if _, err := c.Say(t.Context(), "voice", m); err != nil {
			t.Fatal(err)
		}
	}
	say(apiclient.SessionMessage{ID: "m1", Text: "How is the weather in Oslo?"})
	var received strings.Builder
	w := &apiclient.SessionWatcher{}
	// watch follows the session until an event, and then breaks the connection.
	watch := func(until engine.EventType, react func(engine.Event)) {
		t.Helper()
		ctx, leave := context.WithCancel(t.Context())
		defer leave()
		w.Event = func(ev engine.Event) {
			if ctx.Err() != nil {
				return
			}
			if ev.Type != engine.ModelDelta { // not all are received
				received.WriteString(shown(ev) + "\n")
			}
			react(ev)
			if ev.Type == until {
				leave()
			}
		}
		if err := c.WatchSession(ctx, "voice", w); ctx.Err() == nil {
			t.Fatal(err)
		}
		received.WriteString("-- the connection breaks\n")
	}
	var listen, interrupt sync.Once
	watch(engine.ToolStarted, func(ev engine.Event) {
		if ev.Type == engine.ModelStarted {
			listen.Do(func() { close(model.watched) })
		}
		if ev.Type == engine.ModelDelta {
			interrupt.Do(func() {
				received.WriteString(shown(ev) + "\n")
				<-model.speaking
				say(apiclient.SessionMessage{ID: "m2", Text: "In Bergen, I mean.", Interrupt: true})
				<-model.cut
			})
		}
	})
	say(apiclient.SessionMessage{ID: "m3", Text: "And is it warm?"})
	close(model.said)
	watch(engine.RunCompleted, func(engine.Event) {})
	say(apiclient.SessionMessage{ID: "m4", Text: "Thanks, bye."})
	watch(engine.RunCompleted, func(engine.Event) {})
	goldentest.File(t, "duplex.golden", received.String())
	for n, want := range [][]string{1: {"In Bergen"}, 3: {"In Bergen", "And is it warm?", "sunny"}} {
		for _, text := range want {
			if got := strings.Count(model.requests[n], text); got != 1 {
				t.Errorf("request %d has %q %d times:\n%s", n+1, text, got, model.requests[n])
			}
		}
	}
}

// shown returns an event as one line, without what differs from run to run.
func shown(ev engine.Event) string {
	words := []string{string(ev.Type), ev.Path, ev.Role, ev.Tool, ev.ID, ev.Question, ev.Status}
	if ev.Type == engine.MessageReceivedEvent || ev.Type == engine.RunCompleted {
		words = append(words, ev.Text)
	}
	return strings.Join(strings.Fields(strings.Join(words, " ")), " ")
}
