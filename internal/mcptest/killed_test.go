//go:build linux

package mcptest_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/pexctl/pex/internal/mcptest"
)

// killedSpec pays once, and again with the same arguments if the outcome is reported as unknown.
const killedSpec = `
apiVersion: pex/v1
kind: Agent
metadata: {name: killed}
parameters: {question: {type: string, default: Call it.}}
llms:
  main:
    provider: scripted
    options:
      replies:
        - {role: planner, text: '{"steps": ["Call it"], "result": ""}'}
        - {role: executor, when: call == 1, tool_calls: [{name: srv__echo, arguments: {text: hi}}]}
        - {role: executor, when: call == 2 and prompt contains "may have taken effect", tool_calls: [{name: srv__echo, arguments: {text: hi}}]}
        - {role: executor, times: 0, text: It was called.}
        - {role: reflector, times: 0, text: '{"steps": [], "result": "done"}'}
tools:
  srv: {type: mcp, url: %q, effect: write, approval: never, on_unknown: %s}
planner: {llm: main}
`

// TestIdempotencyKeySurvivesAKilledServer kills an HTTP server during a write. The call is not repeated
// automatically. When a human or the model repeats it, the server gets the idempotency key of the first call.
func TestIdempotencyKeySurvivesAKilledServer(t *testing.T) {
	for _, test := range []struct {
		onUnknown string
		exit      int // of the run
		calls     int // that reached the server during the run
	}{
		{onUnknown: "review", exit: 5, calls: 1},
		{onUnknown: "continue", exit: 0, calls: 2},
	} {
		t.Run(test.onUnknown, func(t *testing.T) {
			site := mcptest.HTTP(t, mcptest.WebModes()["web_killed"])
			dir := t.TempDir()
			file := filepath.Join(dir, "spec.yaml")
			if err := os.WriteFile(file, fmt.Appendf(nil, killedSpec, site.URL, test.onUnknown), 0o600); err != nil {
				t.Fatal(err)
			}
			got := runPexctl(t, test.exit, dir, "run", file, "--run-id", "r")
			if n := len(site.Calls()); n != test.calls {
				t.Fatalf("%d calls reached the server, want %d; result: %+v", n, test.calls, got)
			}
			if test.exit == 5 {
				if len(got.Interrupts) != 1 || got.Interrupts[0].Kind != "needs_review" || got.Interrupts[0].Tool != "srv__echo" {
					t.Fatalf("open questions: %+v, want one needs_review of srv__echo", got.Interrupts)
				}
				got = runPexctl(t, 0, dir, "resume", "r", "--answer", got.Interrupts[0].Path+"=redo")
			}
			if got.Status != "completed" {
				t.Errorf("the run ended %q, want completed", got.Status)
			}
			var keys []string
			for _, params := range site.Calls() {
				var p struct {
					Meta map[string]any `json:"_meta"`
				}
				if err := json.Unmarshal(params, &p); err != nil {
					t.Fatal(err)
				}
				keys = append(keys, fmt.Sprint(p.Meta["pexctl/idempotencyKey"]))
			}
			if len(keys) != 2 || keys[0] == "<nil>" || keys[0] == "" || keys[0] != keys[1] {
				t.Errorf("idempotency keys %q, want the same key twice", keys)
			}
		})
	}
}

// runResult is the part of a result that the tests check.
type runResult struct {
	Status     string
	Interrupts []struct{ Kind, Tool, Path string }
}

// runPexctl runs pexctl with a home in dir.
func runPexctl(t *testing.T, exit int, dir string, args ...string) (got runResult) {
	t.Helper()
	c := exec.CommandContext(t.Context(), pexctl, append(args, "-o", "json", "-q", "--home", filepath.Join(dir, "home"))...)
	out, err := c.Output()
	if code := c.ProcessState.ExitCode(); code != exit {
		t.Fatalf("exit %d, want %d: %v\n%s", code, exit, err, out)
	}
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return got
}
