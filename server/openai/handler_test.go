package openai_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/pexctl/pex/engine/runs"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/server/auth"
	"github.com/pexctl/pex/server/openai"
)

const hi = `{"model": "hello", "messages": [{"role": "user", "content": "hi"}]}`

// startedBy posts a chat with a header that names a user, and returns who started its run.
func (w *world) startedBy(client string) string {
	w.t.Helper()
	status, body := w.post(client, "/v1/chat/completions", hi, "X-OpenWebUI-User-Email", "mia@example.com")
	run := runID.FindString(body)
	if status != 200 || run == "" {
		w.t.Fatal(status, body)
	}
	start, err := w.Tenant("").Runs.StartOf(run)
	if err != nil {
		w.t.Fatal(err)
	}
	return start.Input.By.User + " " + start.Input.By.Issuer
}

func TestATrustedUIActsForItsUsers(t *testing.T) {
	trusting := newWorld(t, openai.Options{TrustUserHeaders: true}, time.Hour)
	for client, want := range map[string]string{"root": "mia@example.com tokens by root", "rob": "rob tokens", "anon": "anonymous "} {
		if got := trusting.startedBy(client); got != want {
			t.Errorf("%s: %s, want %s", client, got, want)
		}
	}
	if got := newWorld(t, openai.Options{}, time.Hour).startedBy("root"); got != "root tokens" {
		t.Error(got)
	}
}

// A repeated request with the same key has the same run.
func TestIdempotencyKeys(t *testing.T) {
	w := newWorld(t, openai.Options{}, time.Hour)
	_, first := w.post("ann", "/v1/chat/completions", hi, "Idempotency-Key", "one")
	_, again := w.post("ann", "/v1/chat/completions", hi, "Idempotency-Key", "one")
	if id := runID.FindString(first); id == "" || runID.FindString(again) != id || w.Runs() != 1 || !strings.Contains(again, `"hello"`) {
		t.Errorf("%s%s", first, again)
	}
	if status, body := w.post("ann", "/v1/chat/completions", strings.Replace(hi, "hi", "ho", 1), "Idempotency-Key", "one"); status != 400 || !strings.Contains(body, "idempotency_mismatch") {
		t.Error(status, body)
	}
}

// A conversation of another tenant with the same id is another one.
func TestConversationsBelongToTenants(t *testing.T) {
	w := newWorld(t, openai.Options{}, time.Hour)
	ask := `{"model": "desk", "messages": [{"role": "user", "content": "%s"}]}`
	w.post("ann", "/v1/chat/completions", strings.Replace(ask, "%s", "add", 1), "X-Conversation-Id", "chat")
	if status, body := w.post("eve", "/v1/chat/completions", strings.Replace(ask, "%s", "approve", 1), "X-Conversation-Id", "chat"); status != 200 || !strings.Contains(body, "May step s1 call calculator?") {
		t.Error(status, body)
	}
	if n := w.Runs(); n != 1 {
		t.Errorf("%d runs", n)
	}
}

// leaving is a client that leaves at the first byte of the response.
type leaving struct {
	*httptest.ResponseRecorder
	leave context.CancelFunc
}

func (l leaving) Write(b []byte) (int, error) {
	l.leave()
	return len(b), nil
}

// The run of a client that disconnects continues.
func TestARunOutlivesItsClient(t *testing.T) {
	w := newWorld(t, openai.Options{}, time.Hour)
	ctx, leave := context.WithCancel(auth.NewContext(t.Context(), auth.Identity{Subject: "ann", Roles: []string{auth.Run}}))
	defer leave()
	body := `{"model": "adds", "stream": true, "messages": [{"role": "user", "content": "hi"}]}`
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/v1/chat/completions", strings.NewReader(body))
	w.handler.ServeHTTP(leaving{httptest.NewRecorder(), leave}, r)
	found, _, err := w.Tenant("").Runs.List(t.Context(), runs.Filter{})
	if err != nil || len(found) != 1 {
		t.Fatal(found, err)
	}
	w.Tenant("").Manager.Await(t.Context(), found[0].Run)
	if got := w.Client("ann").Status(t.Context(), found[0].Run); got != stop.RunCompleted {
		t.Error(got)
	}
}
