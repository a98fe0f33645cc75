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

// spec is a run whose one step calls the one tool.
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

// outcome is one run of pexctl against one server.
type outcome struct {
	exit    int
	took    time.Duration
	cpu     time.Duration // of pexctl and the server
	memory  int64         // the largest that pexctl or a server was, in bytes
	said    string        // status of the run and of the call, its result, and the warnings
	stderr  string
	left    []string // processes
	overrun bool     // had to be killed
}

// limits are what the spec says: how long a call, and the start, may take.
type limits struct{ call, start time.Duration }

// patient limits are met by every server that comes to an end.
var patient = limits{30 * time.Second, 30 * time.Second}

const mostPatient = 2 * time.Minute

// against runs pexctl against a server on stdio, or the one at url.
func against(t *testing.T, mode, url, effect string, l limits) outcome {
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
	ctx, cancel := context.WithTimeout(t.Context(), mostPatient)
	defer cancel()
	c := exec.CommandContext(ctx, pexctl, "run", file, "-o", "json", "-q", "--home", filepath.Join(dir, "home"), "--run-id", "r")
	c.WaitDelay = time.Second
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var stdout, stderr bytes.Buffer
	c.Stdout, c.Stderr = &stdout, &stderr
	begin := time.Now()
	err := c.Run()
	o := outcome{took: time.Since(begin), cpu: c.ProcessState.UserTime() + c.ProcessState.SystemTime(), exit: c.ProcessState.ExitCode(), stderr: stderr.String(), left: mcptest.Left(mark), overrun: ctx.Err() != nil}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	if usage, ok := c.ProcessState.SysUsage().(*syscall.Rusage); ok {
		o.memory = usage.Maxrss << 10
	}
	o.said = summary(t, stdout.Bytes())
	return o
}

// summary is what these tests look at of a result.
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
		t.Fatalf("stdout is no result: %v\n%.2000s", err, result)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "run %s", r.Status)
	for _, s := range r.Steps {
		for _, c := range s.ToolCalls {
			fmt.Fprintf(&b, "\ncall %s %s: %s", c.Tool, c.Status, clipped(string(c.Result)))
		}
	}
	for _, i := range r.Interrupts {
		fmt.Fprintf(&b, "\nasks %s: %s", i.Kind, clipped(i.Question))
	}
	for _, w := range r.Warnings {
		fmt.Fprintf(&b, "\nwarning: %s", clipped(w))
	}
	return b.String()
}

// clipped is the beginning and the end of a text.
func clipped(s string) string {
	const keep = 500
	if len(s) <= 2*keep {
		return s
	}
	return s[:keep] + " ... " + s[len(s)-keep:]
}
