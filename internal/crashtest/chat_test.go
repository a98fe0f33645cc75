//go:build faults && linux

package crashtest_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

const chatSpec = `apiVersion: pex/v1
kind: Agent
metadata: {name: talker}
llms:
  main:
    provider: scripted
    options:
      replies:
        - {role: planner, text: '{"steps": [{"id": "s1", "goal": "look"}], "result": ""}'}
        - {role: executor, when: call == 1, delay: 5ms, tool_calls: [{name: clock, arguments: {}}]}
        - {role: executor, delay: 5ms, text: looked}
        - {role: reflector, delay: 5ms, text: '{"steps": [], "result": "answered"}'}
tools: {clock: {}}
`

// chatTurns is the number of turns of the conversation.
const chatTurns = 30

// A conversation of 30 turns whose process is killed at random times: the next process continues the
// turn that was left. Every question is one run, and the memory has every turn once, in order.
func TestAConversationSurvivesKills(t *testing.T) {
	seed := number(t, "PEX_FAULTS_SEED", int(time.Now().UnixNano()%1e9))
	t.Logf("PEX_FAULTS_SEED=%d", seed)
	rng := rand.New(rand.NewPCG(uint64(seed), 77))
	c := &chatWorld{t: t, dir: t.TempDir()}
	if err := os.WriteFile(filepath.Join(c.dir, "spec.yaml"), []byte(chatSpec), 0o600); err != nil {
		t.Fatal(err)
	}
	kills, window := 0, 150
	for range 200 {
		if c.talk(time.Duration(20+rng.IntN(window)) * time.Millisecond) {
			kills++
		}
		if started, ended := c.runs(); len(started) == chatTurns && ended == chatTurns {
			break
		}
		window += 10
	}
	started, ended := c.runs()
	if len(started) != chatTurns || ended != chatTurns || kills == 0 {
		t.Fatalf("%d turns started and %d completed, %d kills", len(started), ended, kills)
	}
	var content struct {
		Interactions []struct{ Question, Answer string } `json:"interactions"`
	}
	c.read(&content, "memory", "show", "m", "-o", "json")
	if len(content.Interactions) != chatTurns {
		t.Fatalf("the memory has %d turns", len(content.Interactions))
	}
	for i, turn := range content.Interactions {
		if want := question(i); turn.Question != want || started[i] != want || turn.Answer != "answered" {
			t.Errorf("turn %d: %+v, run %q", i, turn, started[i])
		}
	}
	t.Logf("%d turns, %d kills", chatTurns, kills)
}

func question(n int) string { return fmt.Sprintf("Question %02d?", n) }

// chatWorld is a project with a home.
type chatWorld struct {
	t   *testing.T
	dir string
}

func (c *chatWorld) command(args ...string) *exec.Cmd {
	cmd := exec.Command(plain, args...)
	cmd.Dir = c.dir
	return cmd
}

// talk asks the questions that no run has, and kills the process after a time. It reports whether
// the process was killed.
func (c *chatWorld) talk(life time.Duration) bool {
	c.t.Helper()
	asked, _ := c.runs()
	var lines strings.Builder
	for i := len(asked); i < chatTurns; i++ {
		lines.WriteString(question(i) + "\n")
	}
	cmd := c.command("chat", ".", "--memory-id", "m", "-q")
	cmd.Stdin = strings.NewReader(lines.String())
	if err := cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	timer := time.AfterFunc(life, func() { _ = cmd.Process.Kill() })
	err := cmd.Wait()
	timer.Stop()
	if err != nil && cmd.ProcessState.ExitCode() != -1 {
		c.t.Fatalf("pexctl chat: %v", err)
	}
	return err != nil
}

// runs returns the questions of all runs, oldest first, and how many have completed.
func (c *chatWorld) runs() (questions []string, completed int) {
	c.t.Helper()
	if _, err := os.Stat(filepath.Join(c.dir, ".pex", "runs")); err != nil {
		return nil, 0
	}
	var all []struct{ Question, Status string }
	c.read(&all, "runs", "ls", "-o", "json", "--limit", "1000")
	for _, a := range slices.Backward(all) {
		questions = append(questions, a.Question)
		if a.Status == "completed" {
			completed++
		}
	}
	return questions, completed
}

func (c *chatWorld) read(to any, args ...string) {
	c.t.Helper()
	out, err := c.command(args...).Output()
	if err == nil {
		err = json.Unmarshal(out, to)
	}
	if err != nil {
		c.t.Fatalf("pexctl %v: %v\n%s", args, err, out)
	}
}
