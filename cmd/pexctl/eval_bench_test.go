//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pexctl/pex/internal/chatserver"
)

const benchSuite = `apiVersion: pex/v1
kind: Suite
metadata: {name: bench}
spec: spec.yaml
dataset: cases.jsonl
concurrency: 64
checks:
  - {type: contains, value: "${case.answer}"}
  - {type: regex, pattern: "answer is [0-9]+"}
  - {type: expr, that: 'output startsWith "The answer"'}
gates: [stats.pass_rate == 1]
`

// benchEval runs a suite of n cases, each one model call, with the real binary
// and a server that takes 20 ms per call, with concurrency 64.
func benchEval(b *testing.B, n int) {
	const delay, flight = 20 * time.Millisecond, 64
	bin, dir := built(b), b.TempDir()
	server := chatserver.Start(b, delay, func(string) string { return `{"steps": [], "result": "The answer is 42."}` })
	var cases strings.Builder
	for i := range n {
		fmt.Fprintf(&cases, `{"id":"c%05d","question":"What is the answer to number %d?","answer":"42"}`+"\n", i, i)
	}
	for name, text := range map[string]string{
		"spec.yaml": `{apiVersion: pex/v1, kind: Agent, metadata: {name: bench}, llms: {main: {provider: openai, model: m, base_url: "` +
			server.URL + `", cost: {input: 1, output: 4}}}, tools: {clock: {}}}`,
		"suite.yaml": benchSuite, "cases.jsonl": cases.String(),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	var cpu, wall time.Duration
	var peak, stored int64
	for b.Loop() {
		home := b.TempDir()
		cmd := exec.Command(bin, "eval", "suite.yaml", "-q", "-o", "json")
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "PEX_HOME="+home, "OPENAI_API_KEY=sk-of-nobody-at-all")
		began := time.Now()
		out, high, err := peakOf(cmd)
		wall, peak = wall+time.Since(began), max(peak, high)
		var r struct {
			Stats struct{ Passed int }
		}
		if err != nil || json.Unmarshal(out, &r) != nil || r.Stats.Passed != n {
			b.Fatalf("%v\n%s", err, out)
		}
		stored = sizeOf(b, filepath.Join(home, "evals", "*", "trials.jsonl"))
		cpu += cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	}
	ideal := time.Duration(n) * delay / flight
	b.ReportMetric(float64(cpu.Microseconds())/1000/float64(b.N*n), "cpu-ms/case")
	b.ReportMetric(float64(wall)/float64(b.N)/float64(ideal), "x-ideal-wall")
	b.ReportMetric(float64(peak)/1024, "MiB-peak")
	b.ReportMetric(float64(stored)/float64(n), "B/case")
	b.ReportMetric(float64(server.Most()), "in-flight")
}

// sizeOf returns the size of the one file that matches pattern.
func sizeOf(b *testing.B, pattern string) int64 {
	b.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) != 1 {
		b.Fatalf("%s: %d files, %v", pattern, len(files), err)
	}
	info, err := os.Stat(files[0])
	if err != nil {
		b.Fatal(err)
	}
	return info.Size()
}

// peakOf runs a command and returns its peak memory in kB. Its Rusage would start
// with the peak of this process.
func peakOf(cmd *exec.Cmd) (out []byte, high int64, err error) {
	var stdout bytes.Buffer
	cmd.Stdout = &stdout
	if err := cmd.Start(); err != nil {
		return nil, 0, err
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case err := <-done:
			return stdout.Bytes(), high, err
		case <-tick.C:
			status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", cmd.Process.Pid))
			if _, rest, ok := strings.Cut(string(status), "VmHWM:"); ok {
				var kB int64
				_, _ = fmt.Sscan(rest, &kB)
				high = max(high, kB)
			}
		}
	}
}

// BenchmarkEval5000 measures a process that evaluates 5,000 cases.
func BenchmarkEval5000(b *testing.B) { benchEval(b, 5000) }

// BenchmarkEval50000 measures ten times as many cases: memory must not grow.
func BenchmarkEval50000(b *testing.B) { benchEval(b, 50000) }
