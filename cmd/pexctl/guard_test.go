//go:build unix

package main

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A killed pexctl leaves no process running: neither its tools nor their
// children.
func TestKilledRunLeavesNoProcessBehind(t *testing.T) {
	dir := t.TempDir()
	spec := strings.ReplaceAll(`apiVersion: pex/v1
kind: Agent
metadata: {name: nap}
llms:
  main:
    provider: scripted
    options:
      replies:
        - {role: planner, text: '{"steps": ["nap"], "result": ""}'}
        - {role: executor, tool_calls: [{name: nap, arguments: {}}]}
tools:
  nap:
    type: command
    effect: read
    argv: [sh, -c, 'sh -c "echo \$\$ > FIFO; exec sleep 600" & wait']
    input_schema: {type: object}
`, "FIFO", filepath.Join(dir, "fifo"))
	if err := os.WriteFile(filepath.Join(dir, "spec.yaml"), []byte(spec), 0o600); err != nil {
		t.Fatal(err)
	}
	fifo := filepath.Join(dir, "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "run", "spec.yaml", "q", "--home", "home", "-q")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), pexctlEnv()...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(fifo) // blocks until the grandchild writes
	if err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(f).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // killed
	for began := time.Now(); syscall.Kill(pid, 0) == nil; {
		if time.Since(began) > time.Minute {
			t.Fatalf("process %d is still there", pid)
		}
		if stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat"); err == nil && strings.Contains(string(stat), ") Z ") {
			break // a zombie
		}
		runtime.Gosched()
	}
}
