//go:build unix

package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// WebhookReceiver starts a receiver that verifies messages with the library of Standard Webhooks, for one secret. It
// returns its URL, and a function that returns the messages so far: "TYPE RUN", or "invalid: REASON".
func WebhookReceiver(t testing.TB, secret string) (url string, received func() []string) {
	t.Helper()
	library := cached(t, "webhooks", "node_modules", "standardwebhooks")
	if _, err := os.Stat(library); err != nil {
		t.Fatal("no library of Standard Webhooks: internal/e2e/setup.sh webhooks gets it")
	}
	address, log := freeAddress(t), filepath.Join(t.TempDir(), "received")
	cmd := exec.CommandContext(t.Context(), "node", "testdata/receiver.cjs", library, address, log)
	cmd.Env = append(os.Environ(), "WEBHOOK_SECRET="+secret)
	start(t, cmd, "http://"+address)
	return "http://" + address, func() []string {
		b, err := os.ReadFile(log)
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		return strings.Split(strings.TrimSpace(string(b)), "\n")
	}
}

// Serve starts pexctl serve in a folder with variables of the environment, and returns its URL.
func Serve(t testing.TB, dir string, env []string, args ...string) string {
	t.Helper()
	address := freeAddress(t)
	cmd := exec.CommandContext(t.Context(), Built(t, "cmd/pexctl"), append([]string{"serve", "--listen", address}, args...)...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	start(t, cmd, "http://"+address+"/readyz")
	return "http://" + address
}
