//go:build linux

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A command that a run starts cannot read the keys of pexctl in /proc, nor those
// of the guard, which has none.
func TestCommandsCannotReadTheEnvironmentOfPexctl(t *testing.T) {
	dir := t.TempDir()
	for _, at := range []string{dir, filepath.Dir(dir)} { // both belong to the test
		if err := os.Chmod(at, 0o777); err != nil { //nolint:gosec // for the user below
			t.Fatal(err)
		}
	}
	for at := filepath.Dir(dir); at != filepath.Dir(at); at = filepath.Dir(at) {
		if info, err := os.Stat(at); err != nil || os.Getuid() == 0 && info.Mode()&0o001 == 0 {
			t.Skipf("%s is closed to the user that this runs as (%v): set TMPDIR to an open folder", at, err)
		}
	}
	spec := filepath.Join(dir, "spec.yaml")
	if err := os.WriteFile(spec, []byte(readsEnviron), 0o644); err != nil { //nolint:gosec // the same
		t.Fatal(err)
	}
	cmd := exec.Command("/proc/self/exe", "run", spec, "q", "--home", filepath.Join(dir, "home"), "-o", "json", "-q")
	cmd.Env = append(pexctlEnv(), "OPENAI_API_KEY=sk-canary-6f1d0c", "PATH="+os.Getenv("PATH"), "TMPDIR="+dir)
	cmd.Dir = "/"
	if os.Getuid() == 0 { // root can read everything
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s%s", err, out, stderr.String())
	}
	if read, err := os.ReadFile(filepath.Join(dir, "environ")); err != nil || strings.Contains(string(read), "sk-canary") {
		t.Errorf("the command read %q, %v", read, err)
	}
	if said, err := os.ReadFile(filepath.Join(dir, "errors")); err != nil || !strings.Contains(string(said), "Permission denied") {
		t.Errorf("cat said %q, %v", said, err)
	}
}

const readsEnviron = `apiVersion: pex/v1
kind: Agent
metadata: {name: stranger}
llms:
  m:
    provider: scripted
    options:
      replies:
        - {role: planner, text: '{"steps": ["go"], "result": ""}'}
        - {role: executor, when: call == 1, tool_calls: [{name: sh, arguments: {}}]}
        - {role: executor, text: did}
        - {role: reflector, text: '{"steps": [], "result": "ok"}'}
tools:
  sh: {type: command, effect: read, argv: [sh, -c, "cat /proc/$PPID/environ /proc/[0-9]*/environ >environ 2>errors; true"]}
`
