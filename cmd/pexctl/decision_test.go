//go:build unix

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/engine/journal"
)

const approvedSpec = `apiVersion: pex/v1
kind: Agent
metadata: {name: approved}
llms:
  main:
    provider: scripted
    options:
      replies:
        - {role: planner, text: '{"steps": ["send it"], "result": ""}'}
        - {role: executor, when: call == 1, tool_calls: [{name: send, arguments: {}}]}
        - {role: executor, when: call == 2, text: over}
        - {role: reflector, text: '{"steps": [], "result": "over"}'}
tools:
  send: {type: command, effect: write, approval: always, description: sends, argv: [sh, -c, 'echo sent >> ledger']}
memory: {backend: none}
`

// If two sessions approve and deny at the same time, only one decision counts:
// its session continues the run, and the other one gets an error. PEX_TEST_PAIRS
// is the number of pairs (20, with -short 4: separate processes share no memory
// for the race detector).
func TestOneOfTwoRacingDecisionsCounts(t *testing.T) {
	pairs := 20
	if testing.Short() {
		pairs = 4
	}
	if n, err := strconv.Atoi(os.Getenv("PEX_TEST_PAIRS")); err == nil {
		pairs = n
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "spec.yaml"), []byte(approvedSpec), 0o600); err != nil {
		t.Fatal(err)
	}
	parked := filepath.Join(dir, "parked")
	if code, out := decide("run", filepath.Join(dir, "spec.yaml"), "q", "-q", "--run-id", "r", "--home", parked); code != 5 {
		t.Fatalf("the run ended %d: %s", code, out)
	}
	approved := 0
	for i := range pairs {
		home := filepath.Join(dir, fmt.Sprint("home", i))
		if err := os.CopyFS(home, os.DirFS(parked)); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "ledger"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if raced(t, home, filepath.Join(dir, "ledger")) == "approve" {
			approved++
		}
	}
	t.Logf("%d pairs: %d approved, %d denied", pairs, approved, pairs-approved)
}

// raced makes both decisions at the same time and returns the one that counted.
func raced(t *testing.T, home, ledger string) string {
	t.Helper()
	const path = "step.s1/turn.1/tool.0.approval"
	said := map[string]string{}
	codes := map[string]int{}
	var mu sync.Mutex
	var both sync.WaitGroup
	for _, decision := range []string{"approve", "deny"} {
		both.Go(func() {
			code, out := decide("resume", "r", "-q", "--home", home, "--answer", path+"="+decision)
			mu.Lock()
			defer mu.Unlock()
			codes[decision], said[decision] = code, out
		})
	}
	both.Wait()
	winner, loser := "approve", "deny"
	if codes[winner] != ui.ExitOK {
		winner, loser = loser, winner
	}
	// The other session finds the run locked, or the question answered.
	refused := map[int]string{ui.ExitInfra: "held by pid", ui.ExitUsage: "takes one answer"}[codes[loser]]
	if codes[winner] != ui.ExitOK || refused == "" || !strings.Contains(said[loser], refused) {
		t.Fatalf("exit codes %v: %q", codes, said)
	}
	sent, err := os.ReadFile(ledger)
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(sent, []byte("sent")); n == 1 != (winner == "approve") || n > 1 {
		t.Fatalf("%s counted, and it was sent %d times", winner, n)
	}
	if n := decisionsAt(t, home, path); n != 1 {
		t.Fatalf("the journal has %d decisions", n)
	}
	return winner
}

func decisionsAt(t *testing.T, home, path string) (n int) {
	t.Helper()
	h, err := journal.OpenHome(home, journal.Exit)
	if err != nil {
		t.Fatal(err)
	}
	recs, err := h.Read("r")
	if err != nil {
		t.Fatal(err)
	}
	for _, rec := range recs {
		if rec.Kind == journal.Result && rec.Path == path {
			n++
		}
	}
	return n
}

// decide runs pexctl in its own process, because two sessions share none.
func decide(args ...string) (code int, out string) {
	c := exec.Command("pexctl", args...)
	c.Env = append(os.Environ(), noSleep)
	b, err := c.CombinedOutput()
	if c.ProcessState == nil {
		return -1, err.Error()
	}
	return c.ProcessState.ExitCode(), string(b)
}
