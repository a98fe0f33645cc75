package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
)

const sumsSpec = `apiVersion: pex/v1
kind: Agent
metadata: {name: sums}
llms:
  main:
    provider: scripted
    options:
      replies:
        - {role: planner, text: '{"steps": ["Calculate"], "result": ""}'}
        - {role: executor, when: call == 1, tool_calls: [{name: calculator, arguments: {expression: 2349.50 * 0.17}}]}
        - {role: executor, when: 'prompt contains "399.415"', text: it is 399.415}
        - {role: reflector, text: '{"steps": [], "result": "399.415"}'}
tools: {calculator: {}}
`

// testedSpec writes a spec with n cases, each with the prompts of five nodes and a
// run, and their golden files.
func testedSpec(tb testing.TB, n int) string {
	tb.Helper()
	tb.Setenv("CI", "")
	dir := tb.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "spec.yaml"), []byte(sumsSpec), 0o600); err != nil {
		tb.Fatal(err)
	}
	var b strings.Builder
	b.WriteString("apiVersion: pex/v1\nkind: Tests\ntests:\n")
	for i := range n {
		fmt.Fprintf(&b, "  - name: case %d\n    parameters: {question: 'What is %d + 1?'}\n    render: all\n    run: {}\n", i, i)
		b.WriteString("    expect: ['output contains \"399\"', trace.model_calls == 4]\n    trajectory: {tools: [calculator]}\n")
	}
	if err := os.WriteFile(filepath.Join(dir, "tests.yaml"), []byte(b.String()), 0o600); err != nil {
		tb.Fatal(err)
	}
	if code := run([]string{"test", dir, "--update", "-q"}, streams{strings.NewReader(""), io.Discard, os.Stderr}); code != ui.ExitOK {
		tb.Fatal("exit code", code)
	}
	return dir
}

// What a pull request waits for: 200 cases with five prompts and a run each.
func BenchmarkTest200(b *testing.B) {
	dir := testedSpec(b, 200)
	b.ReportAllocs()
	for b.Loop() {
		if code := run([]string{"test", dir}, streams{strings.NewReader(""), io.Discard, io.Discard}); code != ui.ExitOK {
			b.Fatal("exit code", code)
		}
	}
}
