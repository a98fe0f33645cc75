//go:build unix

package e2e

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Aimock answers from fixtures (a file, or a folder of them) and gives the
// base URL of its OpenAI API. Flags are aimock's own, such as --chaos-drop 0.1.
func Aimock(t testing.TB, fixtures string, flags ...string) string {
	t.Helper()
	cli := cached(t, "aimock", "node_modules", "@copilotkit", "aimock", "dist", "cli.js")
	if _, err := os.Stat(cli); err != nil {
		t.Fatal("no aimock: internal/e2e/setup.sh aimock gets it")
	}
	fixtures, err := filepath.Abs(fixtures)
	if err != nil {
		t.Fatal(err)
	}
	addr := freeAddress(t)
	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		t.Fatal(err)
	}
	args := append([]string{cli, "-p", port, "-f", fixtures, "--strict", "--log-level", "warn"}, flags...)
	start(t, exec.Command("node", args...), "http://"+addr+"/__aimock/journal")
	return "http://" + addr + "/v1"
}
