package openai_test

import (
	"strings"
	"testing"
	"time"

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
	for client, want := range map[string]string{"root": "mia@example.com tokens by root", "rob": "rob tokens"} {
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
