package webhook_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/runs"
	"github.com/pexctl/pex/server/webhook"
)

// delivery is a request to a receiver.
type delivery struct {
	at     time.Time
	host   string
	id     string
	header http.Header
	body   []byte

	kind, run, cursor string
}

func (d delivery) String() string { return d.run + " " + d.cursor + " " + d.kind }

// world is a tenant with runs, and its receivers.
type world struct {
	t    testing.TB
	home string
	log  bytes.Buffer

	mu         sync.Mutex
	journals   map[string][]engine.Event
	deliveries []delivery
	// respond returns the response to the n-th request, from 1, to a receiver; nil = 204.
	respond func(n int, d delivery) *http.Response
	counts  map[string]int
	epoch   time.Time // of the first event of each run

	dispatcher *webhook.Dispatcher
	outbox     *webhook.Outbox
}

func newWorld(t testing.TB) *world {
	return &world{t: t, home: t.TempDir(), journals: map[string][]engine.Event{}, counts: map[string]int{}, epoch: time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)}
}

// start starts the server with hooks.
func (w *world) start(hooks ...*webhook.Hook) {
	w.t.Helper()
	log := slog.New(slog.NewTextHandler(&w.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	w.dispatcher = webhook.New(webhook.Options{Log: log}.WithTransport(w))
	w.outbox = w.dispatcher.Open(webhook.Tenant{Name: "shared", Home: w.home, Replay: w.replay})
	if err := w.dispatcher.SetHooks(hooks); err != nil {
		w.t.Fatal(err)
	}
	w.outbox.Recover(w.t.Context())
}

func (w *world) stop() {
	w.t.Helper()
	if err := w.dispatcher.Close(); err != nil {
		w.t.Error(err)
	}
}

// hook returns a hook for a receiver named like it.
func (w *world) hook(name string, events ...engine.EventType) *webhook.Hook {
	if events == nil {
		events = []engine.EventType{engine.RunStarted, engine.InterruptRaised, engine.RunCompleted}
	}
	return &webhook.Hook{Name: name, Events: events, URL: &url.URL{Scheme: "https", Host: name + ".example.com", Path: "/canary"}, Secrets: secrets(w.t, secret), Header: http.Header{"X-Auth": {"canary"}}}
}

// RoundTrip implements http.RoundTripper as the receivers.
func (w *world) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	d := delivery{at: time.Now(), host: r.URL.Host, id: r.Header.Get("webhook-id"), header: r.Header, body: body}
	var p struct {
		Type string
		Data struct {
			Run    string `json:"run_id"`
			Cursor string
		}
	}
	if err := json.Unmarshal(body, &p); err != nil {
		return nil, err
	}
	d.kind, d.run, d.cursor = p.Type, p.Data.Run, p.Data.Cursor
	w.mu.Lock()
	defer w.mu.Unlock()
	w.deliveries = append(w.deliveries, d)
	w.counts[d.host]++
	if w.respond != nil {
		if resp := w.respond(w.counts[d.host], d); resp != nil {
			if resp.StatusCode == 0 {
				return nil, fmt.Errorf("no route to %s", d.host)
			}
			return resp, nil
		}
	}
	return status(http.StatusNoContent), nil
}

// status returns a response with headers "Name: value".
func status(code int, headers ...string) *http.Response {
	h := http.Header{}
	for _, s := range headers {
		name, value, _ := strings.Cut(s, ": ")
		h.Set(name, value)
	}
	return &http.Response{StatusCode: code, Header: h, Body: io.NopCloser(strings.NewReader("canary"))}
}

// received returns the messages to a receiver, in order.
func (w *world) received(name string) []delivery {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(w.deliveries), func(d delivery) bool { return d.host != name+".example.com" })
}

// until waits until a receiver got n messages.
func (w *world) until(name string, n int) []delivery {
	w.t.Helper()
	for range 5000 {
		if got := w.received(name); len(got) >= n {
			return got
		}
		time.Sleep(time.Millisecond)
	}
	w.t.Fatalf("%s has %v, want %d messages\n%s", name, w.received(name), n, &w.log)
	return nil
}

// idle waits until no message is pending.
func (w *world) idle() {
	w.t.Helper()
	for range 10000 {
		pending := 0
		for _, st := range w.outbox.List() {
			pending += st.Pending
		}
		if pending == 0 {
			return
		}
		time.Sleep(time.Millisecond)
	}
	w.t.Fatalf("messages are pending: %+v\n%s", w.outbox.List(), &w.log)
}

func (w *world) replay(ctx context.Context, run string, to engine.Sink) error {
	w.mu.Lock()
	events, ok := w.journals[run]
	w.mu.Unlock()
	if !ok {
		return &runs.NotFoundError{Run: run}
	}
	for _, ev := range events {
		if ctx.Err() != nil {
			break
		}
		to.Send(ev)
	}
	return nil
}

// session is a session of a run.
type session struct {
	w   *world
	run string
	*webhook.Attachment
}

// session begins a session of a run. With isNew it is a new run.
func (w *world) session(run, agent string, isNew bool) *session {
	w.t.Helper()
	a, err := w.outbox.Attach(w.t.Context(), engine.Input{RunID: run, Agent: agent}, isNew)
	if err != nil {
		w.t.Fatal(err)
	}
	if err := a.Stored(); err != nil {
		w.t.Fatal(err)
	}
	s := &session{w, run, a}
	w.mu.Lock()
	if isNew {
		w.journals[run] = nil
	}
	before := w.journals[run]
	w.mu.Unlock()
	for _, ev := range before {
		a.Replay(ev)
	}
	return s
}

var discard = slog.New(slog.DiscardHandler)

// event stores events of the run, and sends them.
func (s *session) event(types ...engine.EventType) {
	for _, kind := range types {
		s.send(engine.Event{Type: kind})
	}
}

func (s *session) send(ev engine.Event) {
	s.w.mu.Lock()
	events := s.w.journals[s.run]
	ev.V, ev.Run = 1, s.run
	if ev.Seq == 0 && !ev.Type.Transient() {
		ev.Seq = len(events) + 1
	}
	if n := len(events); n > 0 && ev.Rewinds == 0 {
		ev.Rewinds = events[n-1].Rewinds
	}
	ev.At = s.w.epoch.Add(time.Duration(len(events)) * time.Second)
	if !ev.Type.Transient() {
		s.w.journals[s.run] = append(events[:ev.Seq-1:ev.Seq-1], ev)
	}
	s.w.mu.Unlock()
	s.Send(ev)
}

// run executes a run to its end.
func (w *world) run(run string, types ...engine.EventType) {
	w.t.Helper()
	s := w.session(run, "desk", true)
	s.event(append(append([]engine.EventType{engine.RunStarted}, types...), engine.RunCompleted)...)
	s.Close()
}

// ledger returns the lines of the ledger.
func (w *world) ledger() string {
	b, err := os.ReadFile(filepath.Join(w.home, webhook.LedgerFile))
	if err != nil && !os.IsNotExist(err) {
		w.t.Fatal(err)
	}
	return string(b)
}

// noCanary checks that the log and the status show no secret.
func (w *world) noCanary() {
	w.t.Helper()
	list, _ := json.Marshal(w.outbox.List())
	for of, text := range map[string]string{"log": w.log.String(), "list": string(list), "ledger": w.ledger()} {
		for _, canary := range []string{"canary", "whsec_", "MfKQ9r8G"} {
			if strings.Contains(text, canary) {
				w.t.Errorf("the %s contains %s: %s", of, canary, text)
			}
		}
	}
}

// names returns deliveries as text.
func names(all []delivery) string {
	var out []string
	for _, d := range all {
		out = append(out, d.String())
	}
	return strings.Join(out, "\n")
}
