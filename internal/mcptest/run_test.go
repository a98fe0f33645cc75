//go:build linux

package mcptest_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pexctl/pex/internal/mcptest"
)

// spec runs one step that calls the tool.
const spec = `
apiVersion: pex/v1
kind: Agent
metadata: {name: hostile}
parameters: {question: {type: string, default: Call it.}}
llms:
  main:
    provider: scripted
    options:
      replies:
        - {role: planner, text: '{"steps": ["Call it"], "result": ""}'}
        - {role: executor, when: call == 1, tool_calls: [{name: srv__echo, arguments: {text: hi}}]}
        - {role: executor, times: 0, text: It was called.}
        - {role: reflector, times: 0, text: '{"steps": [], "result": "done"}'}
tools:
  srv: {type: mcp, %s, effect: %s, timeout: %s, start_timeout: %s}
planner: {llm: main}
`

// outcome is the result of a run of pexctl against a server.
type outcome struct {
	exit      int
	duration  time.Duration
	cpu       time.Duration // of pexctl and the server
	memory    int64         // peak of pexctl or a server, in bytes
	summary   string        // status of the run and the call, its result, questions and warnings
	stderr    string
	processes []string // still running
	killed    bool     // exceeded maxDuration
}

// limits are the spec's timeouts of a call and of the start.
type limits struct{ call, start time.Duration }

// longLimits are enough for every server that responds.
var longLimits = limits{30 * time.Second, 30 * time.Second}

const maxDuration = 2 * time.Minute

// runAgainst runs pexctl against a server on stdio, or the one at url.
func runAgainst(t *testing.T, mode, url, effect string, l limits) outcome {
	t.Helper()
	dir, mark := t.TempDir(), "MCPTEST_MARK="+rand.Text()
	server := fmt.Sprintf("url: %q", url)
	if url == "" {
		program, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		name, value, _ := strings.Cut(mark, "=")
		server = fmt.Sprintf("command: [%q], env: {%s: %q, %s: %q}", program, mcptest.ModeEnv, mode, name, value)
	}
	file := filepath.Join(dir, "spec.yaml")
	if err := os.WriteFile(file, fmt.Appendf(nil, spec, server, effect, l.call, l.start), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), maxDuration)
	defer cancel()
	c := exec.CommandContext(ctx, pexctl, "run", file, "-o", "json", "-q", "--home", filepath.Join(dir, "home"), "--run-id", "r")
	c.WaitDelay = time.Second
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var stdout, stderr bytes.Buffer
	c.Stdout, c.Stderr = &stdout, &stderr
	begin := time.Now()
	err := c.Run()
	o := outcome{duration: time.Since(begin), cpu: c.ProcessState.UserTime() + c.ProcessState.SystemTime(), exit: c.ProcessState.ExitCode(), stderr: stderr.String(), processes: mcptest.ProcessesWith(mark), killed: ctx.Err() != nil}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	if usage, ok := c.ProcessState.SysUsage().(*syscall.Rusage); ok {
		o.memory = usage.Maxrss << 10
	}
	o.summary = summary(t, stdout.Bytes())
	return o
}

// summary returns the parts of a result that the tests check.
func summary(t *testing.T, result []byte) string {
	t.Helper()
	var r struct {
		Status string `json:"status"`
		Steps  []struct {
			ToolCalls []struct {
				Tool   string          `json:"tool"`
				Status string          `json:"status"`
				Result json.RawMessage `json:"result"`
			} `json:"tool_calls"`
		} `json:"steps"`
		Interrupts []struct {
			Kind     string `json:"kind"`
			Question string `json:"question"`
		} `json:"interrupts"`
		Warnings []string `json:"warnings"`
	}
	if len(result) == 0 {
		return "nothing"
	}
	if err := json.Unmarshal(result, &r); err != nil {
		t.Fatalf("stdout is not a result: %v\n%.2000s", err, result)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "run %s", r.Status)
	for _, s := range r.Steps {
		for _, c := range s.ToolCalls {
			fmt.Fprintf(&b, "\ncall %s %s: %s", c.Tool, c.Status, truncate(string(c.Result)))
		}
	}
	for _, i := range r.Interrupts {
		fmt.Fprintf(&b, "\nasks %s: %s", i.Kind, truncate(i.Question))
	}
	for _, w := range r.Warnings {
		fmt.Fprintf(&b, "\nwarning: %s", truncate(w))
	}
	return b.String()
}

// truncate returns the start and the end of a long text.
func truncate(s string) string {
	const keep = 500
	if len(s) <= 2*keep {
		return s
	}
	return s[:keep] + " ... " + s[len(s)-keep:]
}
