//go:build unix

package servetest_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// Secrets that no log, response or message may contain.
const (
	hookKey    = "canary-of-the-signing-key-32-byt"
	hookHeader = "canary-header"
	hookPath   = "/canary-path"
	toolKey    = "canary-tool-key-0123456789"
)

// hookServer returns a server file with a webhook for a receiver.
func hookServer(keys ...string) string {
	return serverFile(append(keys, "notify: {hook: {events: [run.started, tool.completed, step.completed, run.completed], url_env: HOOK_URL, secret_env: HOOK_SECRET, headers_env: {X-Key: HOOK_HEADER}}}")...)
}

// hookEnv returns the environment of a server with a webhook.
func hookEnv(receiver string) []string {
	return []string{
		"HOOK_URL=" + receiver + hookPath, "HOOK_SECRET=whsec_" + base64.StdEncoding.EncodeToString([]byte(hookKey)),
		"HOOK_HEADER=" + hookHeader, "TOOL_KEY=" + toolKey,
	}
}

// receiver collects messages of webhooks. It verifies their signatures by itself.
type receiver struct {
	t   testing.TB
	url string

	mu       sync.Mutex
	rng      *rand.Rand // nil = it accepts everything
	fails    bool       // it rejects everything
	accepted int
	rejected int
	ids      map[string]message
	byRun    map[string][]message // each id once, in the order of arrival
}

// message is the body of a request.
type message struct {
	Type string `json:"type"`
	Data struct {
		Tenant string          `json:"tenant"`
		Agent  string          `json:"agent"`
		Run    string          `json:"run_id"`
		Cursor string          `json:"cursor"`
		Event  json.RawMessage `json:"event"`
	} `json:"data"`
}

// newReceiver starts a receiver that is sometimes slow, and sometimes fails before or after
// it has stored a message.
func newReceiver(t testing.TB, rng *rand.Rand) *receiver {
	r := &receiver{t: t, rng: rng, ids: map[string]message{}, byRun: map[string][]message{}}
	server := httptest.NewServer(r)
	t.Cleanup(server.Close)
	r.url = server.URL
	return r
}

// ServeHTTP implements http.Handler.
func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	if err != nil { // the server was killed
		return
	}
	id, at := req.Header.Get("webhook-id"), req.Header.Get("webhook-timestamp")
	mac := hmac.New(sha256.New, []byte(hookKey))
	fmt.Fprintf(mac, "%s.%s.%s", id, at, body)
	if want := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil)); req.Header.Get("webhook-signature") != want {
		r.t.Errorf("signature %q, want %q", req.Header.Get("webhook-signature"), want)
	}
	if req.URL.Path != hookPath || req.Header.Get("x-key") != hookHeader {
		r.t.Errorf("%s with X-Key %q", req.URL, req.Header.Get("x-key"))
	}
	if strings.Contains(string(body), "canary") {
		r.t.Errorf("a message contains a secret: %s", body)
	}
	var m message
	if err := json.Unmarshal(body, &m); err != nil {
		r.t.Errorf("%v: %s", err, body)
	}
	r.mu.Lock()
	luck := 1.0
	if r.rng != nil {
		luck = r.rng.Float64()
	}
	if luck < 0.1 || r.fails {
		r.rejected++
		r.mu.Unlock()
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	r.accepted++
	if before, ok := r.ids[id]; !ok {
		r.ids[id] = m
		r.byRun[m.Data.Run] = append(r.byRun[m.Data.Run], m)
	} else if before.Data.Cursor != m.Data.Cursor || string(before.Data.Event) != string(m.Data.Event) {
		r.t.Errorf("%s has two messages: %s and %s", id, before.Data.Event, m.Data.Event)
	}
	r.mu.Unlock()
	if luck < 0.2 {
		time.Sleep(time.Duration(luck * float64(time.Second)))
	}
	if luck > 0.95 && luck < 1 {
		w.WriteHeader(http.StatusBadGateway) // although it was stored
	}
}

// behave makes the receiver accept everything.
func (r *receiver) behave() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.rng = nil
}

// fail makes the receiver reject everything, or no longer.
func (r *receiver) fail(fails bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fails = fails
}

// has reports whether the receiver has n messages, repeated ones counted once.
func (r *receiver) has(n int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.ids) >= n
}

// compare checks that the messages about a run are exactly its events of the types of the
// webhook, in their order.
func (r *receiver) compare(run string, events []event) (n int) {
	r.t.Helper()
	wanted := []string{"run.started", "tool.completed", "step.completed", "run.completed"}
	events = slices.DeleteFunc(slices.Clone(events), func(ev event) bool { return !slices.Contains(wanted, ev.kind) })
	r.mu.Lock()
	defer r.mu.Unlock()
	got := r.byRun[run]
	if len(got) != len(events) {
		r.t.Errorf("run %s: %d messages about %d events", run, len(got), len(events))
		return 0
	}
	for i, ev := range events {
		if m := got[i]; m.Data.Cursor != ev.id || m.Type != ev.kind || string(m.Data.Event) != string(ev.data) {
			r.t.Errorf("run %s, message %d: %s %s, want %s", run, i, m.Data.Cursor, m.Data.Event, ev)
		}
	}
	return len(events)
}

// webhooks returns the state of the webhook.
func (w *world) webhook() (state struct{ Pending, Delivered, Failed int }) {
	w.t.Helper()
	var list struct {
		Webhooks []struct{ Pending, Delivered, Failed int }
	}
	decode(w, w.must(http.StatusOK, http.MethodGet, "/v1/webhooks", ""), &list)
	if len(list.Webhooks) != 1 {
		w.t.Fatalf("%d webhooks", len(list.Webhooks))
	}
	return list.Webhooks[0]
}

// noCanary checks that a text of the server contains no secret.
func noCanary(t testing.TB, of, text string) {
	t.Helper()
	for _, secret := range []string{"canary", "whsec_", base64.StdEncoding.EncodeToString([]byte(hookKey))} {
		if strings.Contains(text, secret) {
			t.Errorf("the %s contains %s: %s", of, secret, text)
		}
	}
}

// A server that is killed again and again delivers every event of every run to a receiver
// that is sometimes down or slow, with the same id each time, and in order.
func TestAKilledServerDeliversEveryWebhook(t *testing.T) {
	alone(t)
	kills, steps := size(5, 200), 4
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 1))
	receiver := newReceiver(t, rand.New(rand.NewPCG(seed, 2)))
	leak := `leak: {type: command, effect: read, env: {KEY: "${env.TOOL_KEY}"}, argv: [sh, -c, 'echo "the key is $KEY"']}`
	a := agent{name: "leaks", steps: steps, tool: leak, latency: 10 * time.Millisecond}
	w := newWorld(t, map[string]string{"server.yaml": hookServer("park_after: 10ms"), "spec.yaml": a.spec()})
	w.env = hookEnv(receiver.url)
	logs := ""
	stop := func() {
		p := w.server
		w.kill()
		logs += p.stderr.String()
	}
	for i := range kills {
		w.start()
		w.create(a.name, fmt.Sprint("r-", i))
		time.Sleep(time.Duration(rng.Int64N(int64(250 * time.Millisecond))))
		stop()
	}
	receiver.behave()
	w.start()
	w.until("all messages are delivered", func() bool {
		for _, run := range w.list() {
			if run.Status != "completed" {
				return false
			}
		}
		return receiver.has(kills*(2+2*steps)) && w.webhook().Pending == 0
	})
	noCanary(t, "list", string(w.must(http.StatusOK, http.MethodGet, "/v1/webhooks", "")))
	messages := 0
	for i := range kills {
		run := fmt.Sprint("r-", i)
		messages += receiver.compare(run, w.events(run))
	}
	if len(receiver.ids) != messages {
		t.Errorf("%d ids of %d messages", len(receiver.ids), messages)
	}
	stop()
	noCanary(t, "log", logs)
	t.Logf("%d kills, %d runs: %d messages, each at least once; %d requests accepted, %d repeated ones of these, %d rejected (%s)",
		kills, kills, messages, receiver.accepted, receiver.accepted-messages, receiver.rejected, load())
}

// A reload adds and removes webhooks, and a server that is terminated leaves messages for its
// next start.
func TestReloadedWebhooks(t *testing.T) {
	t.Parallel()
	receiver := newReceiver(t, nil)
	a := agent{name: "one", steps: 1}
	w := newWorld(t, map[string]string{"server.yaml": serverFile(many), "spec.yaml": a.spec()})
	w.env = hookEnv(receiver.url)
	w.start()
	reload := func(file string) {
		t.Helper()
		before := strings.Count(w.server.stderr.String(), "msg=reloaded")
		if err := os.WriteFile(filepath.Join(w.dir, "server.yaml"), []byte(file), 0o600); err != nil {
			t.Fatal(err)
		}
		_ = w.server.Process.Signal(syscall.SIGHUP)
		w.until("the server has reloaded", func() bool { return strings.Count(w.server.stderr.String(), "msg=reloaded") > before })
	}
	finish := func(run string) []event {
		t.Helper()
		w.create(a.name, run)
		w.until("the run is done", func() bool { return w.result(run).Status == "completed" })
		return w.events(run)
	}
	finish("before")
	reload(hookServer(many))
	events := finish("with")
	w.until("the messages are delivered", func() bool { return receiver.has(4) && w.webhook().Pending == 0 })
	reload(serverFile(many))
	finish("without")
	reload(hookServer(many))
	receiver.fail(true)
	late := finish("late")
	if code, _ := w.terminate(); code != 143 {
		t.Errorf("exit code %d", code)
	}
	receiver.fail(false)
	w.start()
	w.until("the messages are delivered", func() bool { return receiver.has(8) && w.webhook().Pending == 0 })
	receiver.compare("with", events)
	receiver.compare("late", late)
	receiver.compare("before", nil)
	receiver.compare("without", nil)
}

// What webhooks cost: runs without one, with one whose receiver works, is down, or hangs.
func TestReceiversDoNotSlowRunsDown(t *testing.T) {
	if testing.Short() {
		t.Skip("it measures")
	}
	alone(t)
	clients, runs := size(8, 32), size(30, 1000)
	a := agent{name: "five", steps: 5}
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	dead := "http://" + closed.Addr().String()
	_ = closed.Close()
	hangs := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
	}))
	defer hangs.Close()
	defer hangs.CloseClientConnections()
	works := newReceiver(t, nil)
	base := 0.0
	for _, c := range []struct{ name, receiver string }{{"none", ""}, {"works", works.url}, {"is down", dead}, {"hangs", hangs.URL}, {"none", ""}} {
		file := serverFile(many)
		if c.receiver != "" {
			file = hookServer(many)
		}
		w := newWorld(t, map[string]string{"server.yaml": file, "spec.yaml": a.spec()})
		w.env = hookEnv(c.receiver)
		w.start()
		took, cpu := w.finish(a.name, clients, runs)
		peak := w.memory("VmHWM")
		if base == 0 {
			base = peak
		}
		if peak > base+64 {
			t.Errorf("receiver %s: VmHWM %.0f MB, without webhooks %.0f MB", c.name, peak, base)
		}
		t.Logf("%d runs x 5 steps, %d clients, receiver: %s: %.0f runs/s, server CPU %.2f ms per run, VmHWM %.0f MB (%s)", runs, clients, c.name,
			float64(runs)/took.Seconds(), cpu.Seconds()*1000/float64(runs), peak, load())
		if c.name == "works" {
			w.until("all messages are delivered", func() bool { return w.webhook().Pending == 0 })
			if got, want := w.webhook().Delivered, runs*(5+5+2); got != want {
				t.Errorf("%d messages, want %d", got, want)
			}
		}
		w.kill()
	}
}
