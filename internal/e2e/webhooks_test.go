//go:build e2e && unix

package e2e_test

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pexctl/pex/internal/e2e"
)

// TestE2EWebhooksVerify: the library of Standard Webhooks accepts the messages of a server, with the new secret and the
// old one, and no others.
func TestE2EWebhooksVerify(t *testing.T) {
	const (
		before = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
		after  = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
		other  = "whsec_ICEiIyQlJicoKSorLC0uLzAxMjM0NTY3ODk6Ozw9Pj8="
	)
	dir := t.TempDir()
	if err := os.CopyFS(filepath.Join(dir, "hello"), os.DirFS("../../specs/hello")); err != nil {
		t.Fatal(err)
	}
	file := "apiVersion: pex/v1\nkind: Server\nagents: {hello: {spec: hello}}\nnotify:\n"
	received := map[string]func() []string{}
	for name, secret := range map[string]string{"before": before, "after": after, "other": other} {
		url, messages := e2e.WebhookReceiver(t, secret)
		received[name] = messages
		file += "  " + name + ": {events: [run.started, run.completed], url: \"" + url + "/pex\", secret_env: SECRET}\n"
	}
	if err := os.WriteFile(filepath.Join(dir, "server.yaml"), []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	url := e2e.Serve(t, dir, []string{"SECRET=" + after + " " + before}, "server.yaml", "--home", filepath.Join(dir, "home"))
	r, err := http.Post(url+"/v1/agents/hello/runs", "application/json", strings.NewReader(`{"run_id": "one", "question": "größer als 3?"}`))
	if err != nil {
		t.Fatal(err)
	}
	body, _ := io.ReadAll(r.Body)
	_ = r.Body.Close()
	if r.StatusCode != http.StatusCreated {
		t.Fatalf("%s: %s", r.Status, body)
	}
	for name, want := range map[string][]string{
		"before": {"run.started one", "run.completed one"},
		"after":  {"run.started one", "run.completed one"},
		"other":  {"invalid: No matching signature found"},
	} {
		for range 1000 {
			if len(received[name]()) >= len(want) && received[name]()[0] != "" {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		if got := received[name](); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
