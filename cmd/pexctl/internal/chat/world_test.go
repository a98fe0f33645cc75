package chat_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pexctl/pex/cmd/pexctl/internal/chat"
	"github.com/pexctl/pex/engine/runs"
	"github.com/pexctl/pex/internal/accesstest"
	"github.com/pexctl/pex/internal/app/apiclient"
	"github.com/pexctl/pex/server/api"
	"github.com/pexctl/pex/server/auth"
)

const deskSpec = `apiVersion: pex/v1
kind: Agent
metadata: {name: desk}
llms:
  main:
    provider: scripted
    options:
      replies:
        - {role: planner, text: '{"steps": [{"id": "s1", "goal": "look"}], "result": ""}'}
        - {role: executor, when: 'step contains "read 2025"', text: read}
        - {role: executor, when: 'call == 1', tool_calls: [{name: clock, arguments: {}}]}
        - {role: executor, when: 'prompt contains "too late"', text: not done}
        - {role: executor, text: did it}
        - {role: reflector, when: 'prompt contains "2025 figures" && call == 1', text: '{"steps": [{"id": "s2", "goal": "read 2025"}], "result": ""}'}
        - {role: reflector, when: 'prompt contains "2025 figures"', text: '{"steps": [], "result": "2025 it is"}'}
        - {role: reflector, when: 'prompt contains "not done"', text: '{"steps": [], "result": "denied"}'}
        - {role: reflector, text: '{"steps": [], "result": "done"}'}
reflector: {strategy: batch}
tools: {clock: {approval: always}}
`

// talk is a conversation with a server in this process.
type talk struct {
	t        *testing.T
	client   *apiclient.Client
	inputs   chan chat.Input
	requests chan string // bodies of messages to runs
	ended    chan error
	chat     *chat.Chat

	mu     sync.Mutex
	shown  []chat.Entry
	state  chat.State
	edited func(string) string
	news   chan struct{}
}

var _ chat.Screen = (*talk)(nil)

// newTalk starts a conversation with the agent desk. parkAfter is how long a run that waits stays in
// memory.
func newTalk(t *testing.T, parkAfter time.Duration, change func(*chat.Options)) *talk {
	t.Helper()
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "desk"), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "desk", "spec.yaml"), []byte(deskSpec), 0o600); err != nil {
		t.Fatal(err)
	}
	w := accesstest.New(t, dir, accesstest.Options{ParkAfter: parkAfter})
	handler := api.New(api.Options{
		Access: w.Access, MaxBody: 1 << 20, MaxUpload: 1 << 20,
		Export: func(out io.Writer, r *runs.Run) error {
			_, err := io.WriteString(out, "{}\n")
			return err
		},
	})
	everything := auth.Identity{Subject: auth.Anonymous, Roles: []string{auth.View, auth.Run, auth.Approve, auth.Admin}}
	x := &talk{t: t, inputs: make(chan chat.Input), requests: make(chan string, 20), ended: make(chan error, 1), news: make(chan struct{}, 1)}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/messages") {
			b, _ := io.ReadAll(r.Body)
			x.requests <- string(b)
			r.Body = io.NopCloser(strings.NewReader(string(b)))
		}
		handler.ServeHTTP(w, r.WithContext(auth.NewContext(r.Context(), everything)))
	}))
	t.Cleanup(s.Close)
	client, err := apiclient.New(apiclient.Settings{URL: s.URL})
	if err != nil {
		t.Fatal(err)
	}
	x.client = client
	o := chat.Options{Client: client, Agent: "desk", MemoryID: "m1", Screen: x}
	if change != nil {
		change(&o)
	}
	x.begin(o)
	return x
}

// begin starts a conversation, which ends with the test.
func (x *talk) begin(o chat.Options) {
	ctx, stop := context.WithCancel(context.Background())
	x.chat = chat.New(o)
	ended := x.ended
	go func() { ended <- x.chat.Run(ctx, x.inputs) }()
	x.t.Cleanup(func() {
		stop()
		<-ended
	})
}

// Show implements chat.Screen.
func (x *talk) Show(e chat.Entry) {
	x.mu.Lock()
	x.shown = append(x.shown, e)
	x.mu.Unlock()
	x.changed()
}

// SetState implements chat.Screen.
func (x *talk) SetState(s chat.State) {
	x.mu.Lock()
	x.state = s
	x.mu.Unlock()
	x.changed()
}

func (x *talk) changed() {
	select {
	case x.news <- struct{}{}:
	default:
	}
}

// Edit implements chat.Screen.
func (x *talk) Edit(_ context.Context, _, text string) (string, error) { return x.edited(text), nil }

// say sends lines.
func (x *talk) say(lines ...string) {
	for _, line := range lines {
		x.inputs <- chat.Input{Text: line}
	}
}

// until waits until the conversation is as wanted.
func (x *talk) until(what string, is func(shown []chat.Entry, s chat.State) bool) {
	x.t.Helper()
	deadline := time.After(20 * time.Second)
	for {
		x.mu.Lock()
		ok := is(x.shown, x.state)
		x.mu.Unlock()
		if ok {
			return
		}
		select {
		case <-x.news:
		case <-deadline:
			x.t.Fatalf("waited in vain for %s: %+v %+v", what, x.state, x.shown)
		}
	}
}

// await waits for an entry with a text, after those that were awaited before, and forgets all before
// it.
func (x *talk) await(kind chat.Kind, text string) (found string) {
	x.t.Helper()
	x.until(text, func(shown []chat.Entry, _ chat.State) bool {
		for i, e := range shown {
			if e.Kind == kind && strings.Contains(e.Text, text) {
				found, x.shown = e.Text, shown[i+1:]
				return true
			}
		}
		return false
	})
	return found
}

// asked waits until the next line answers a question.
func (x *talk) asked() {
	x.t.Helper()
	x.until("a question", func(_ []chat.Entry, s chat.State) bool { return s.Question != nil })
}

// idle waits until no run is under way.
func (x *talk) idle() {
	x.t.Helper()
	x.until("the end of the run", func(_ []chat.Entry, s chat.State) bool { return s.Run == "" && s.Question == nil })
}
