//go:build unix

package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
)

// TestModelsScripts runs pexctl models with servers that support more or less:
// testdata/script/models/*.txtar.
func TestModelsScripts(t *testing.T) {
	vendor := startVendor(t)
	testscript.Run(t, testscript.Params{
		Dir:                "../../testdata/script/models",
		RequireUniqueNames: true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("VENDOR", vendor)
			e.Vars = append(e.Vars, noSleep)
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": runAndExpect,
			"json":  wantJSON,
		},
	})
}

func TestAnInterruptEndsAPing(t *testing.T) {
	asked, done := make(chan struct{}), make(chan struct{})
	silent := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		close(asked)
		<-done
	}))
	t.Cleanup(silent.Close)
	t.Cleanup(func() { close(done) })
	spec := filepath.Join(t.TempDir(), "spec.yaml")
	text := "apiVersion: pex/v1\nkind: Agent\nmetadata: {name: silent}\nllms:\n  main: {provider: openai, model: m, base_url: " + silent.URL + "/v1}\n"
	if err := os.WriteFile(spec, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), exe, "models", "ping", spec, "--timeout", "1h")
	c.Env = append(os.Environ(), pexctlEnv()...)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	<-asked
	if err := c.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait() // its exit code is checked
	if code := c.ProcessState.ExitCode(); code != ui.ExitInterrupted {
		t.Errorf("exit code %d", code)
	}
}
