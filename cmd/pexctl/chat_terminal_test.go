//go:build unix

package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/pexctl/pex/engine/goldentest"
)

const terminalSpec = `apiVersion: pex/v1
kind: Agent
metadata: {name: desk}
llms:
  main:
    provider: scripted
    options:
      replies:
        - {role: planner, text: '{"steps": [{"id": "s1", "goal": "look at the clock"}], "result": ""}'}
        - {role: executor, when: call == 1, tool_calls: [{name: clock, arguments: {}}]}
        - {role: executor, text: looked}
        - {role: reflector, when: 'prompt contains "Colours?"', text: "{\"steps\": [], \"result\": \"\\u001b[2J\\u001b[31mred \\u202eevil\\u0007 \\u001b]0;title\\u0007end\"}"}
        - {role: reflector, text: '{"steps": [], "result": "It is noon."}'}
reflector: {strategy: batch}
tools: {clock: {approval: always}}
`

// terminal is pexctl chat in a terminal of tmux.
type terminal struct {
	t      *testing.T
	socket string
}

// newTerminal starts pexctl chat in a terminal.
func newTerminal(t *testing.T, columns, rows int, args string) *terminal {
	t.Helper()
	oneGoroutine(t)
	for _, program := range []string{"tmux", "pexctl"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip(err)
		}
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "spec.yaml"), []byte(terminalSpec), 0o600); err != nil {
		t.Fatal(err)
	}
	x := &terminal{t: t, socket: filepath.Join(dir, "tmux")}
	t.Cleanup(func() { _ = exec.Command("tmux", "-S", x.socket, "kill-server").Run() })
	command := fmt.Sprintf("cd %s && env -u NO_COLOR -u CI PEX_HOME=%s/home TERM=xterm-256color %s pexctl chat %s; echo code $?; sleep 600", dir, dir, noSleep, args)
	x.tmux("-f", "/dev/null", "new-session", "-d", "-x", fmt.Sprint(columns), "-y", fmt.Sprint(rows), command)
	return x
}

func (x *terminal) tmux(args ...string) string {
	x.t.Helper()
	out, err := exec.Command("tmux", append([]string{"-u", "-S", x.socket}, args...)...).CombinedOutput()
	if err != nil {
		x.t.Fatalf("tmux %q: %v\n%s", args, err, out)
	}
	return string(out)
}

// keys presses keys, by the names of tmux.
func (x *terminal) keys(names ...string) { x.tmux(append([]string{"send-keys"}, names...)...) }

// say types a text and sends it.
func (x *terminal) say(text string) {
	x.tmux("send-keys", "-l", text)
	x.keys("Enter")
}

// frame returns the screen.
func (x *terminal) frame() string {
	return strings.TrimRight(x.tmux("capture-pane", "-p"), "\n") + "\n"
}

// await returns the screen once a pattern matches it.
func (x *terminal) await(pattern string) string {
	x.t.Helper()
	re := regexp.MustCompile(pattern)
	return x.awaitThat(strconv.Quote(pattern)+" is on the screen", re.MatchString)
}

// awaitThat returns the screen once a condition holds. A screen may be captured while it is drawn.
func (x *terminal) awaitThat(what string, holds func(frame string) bool) string {
	x.t.Helper()
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if f := x.frame(); holds(f) {
			return f
		}
	}
	x.t.Fatalf("not so: %s:\n%s", what, x.frame())
	return ""
}

// figures are what differs between runs: times, spinners and ids.
var figures = strings.NewReplacer("◐", "◐", "◓", "◐", "◑", "◐", "◒", "◐")

// steady returns a frame without what differs between runs.
func steady(frame string) string {
	frame = regexp.MustCompile(` +(\d+ tool · )?(\d+ tok · )?(\d+(\.\d+)?m?s)?\n`).ReplaceAllString(figures.Replace(frame), "\n")
	frame = regexp.MustCompile(` +plan v1 · .*`).ReplaceAllString(frame, " plan v1")
	return regexp.MustCompile(`\d+(\.\d+)?m?s\b`).ReplaceAllString(frame, "0s")
}

// settled returns the screen once a pattern matches it and it stays the same, without what differs
// between runs.
func (x *terminal) settled(pattern string) string {
	x.t.Helper()
	const polls = 5
	last := steady(x.await(pattern))
	for same := 0; same < polls; {
		time.Sleep(30 * time.Millisecond)
		if f := steady(x.await(pattern)); f == last {
			same++
		} else {
			last, same = f, 0
		}
	}
	return last
}

// The screens of a turn: an approval, a message while it is open, the answer, and the way out.
func TestChatOnATerminal(t *testing.T) {
	x := newTerminal(t, 72, 40, "--memory-id m1")
	var out strings.Builder
	frame := func(what, pattern string) { fmt.Fprintf(&out, "--- %s\n%s", what, x.settled(pattern)) }
	frame("start", `(?s)m1 is new.*/help\n$`)
	x.say("What time is it?")
	frame("question", `(?s)May step.*answer ›`)
	x.say("!in UTC")
	x.say("perhaps")
	frame("no answer", `invalid answer`)
	x.say("y")
	frame("answered", `(?s)completed: .*It is noon\..*\n› *\nEnter`)
	x.say("/plna")
	frame("near miss", `did you mean /plan`)
	x.keys("C-c")
	frame("Ctrl-C", `Ctrl-C again leaves`)
	x.keys("C-c")
	frame("left", `code 0`)
	goldentest.File(t, "chat_terminal.golden", out.String())
}

// A conversation that was left with a question continues with it. After 100 resizes and a paste of
// 10 MB the screen is whole.
func TestChatContinuesWhateverTheTerminalDoes(t *testing.T) {
	x := newTerminal(t, 80, 24, "--memory-id m1")
	x.await("/help")
	x.say("What time is it?")
	x.await("answer ›")
	x.keys("C-c")
	x.keys("C-c")
	x.await(`Continue: pexctl chat . --memory-id m1`)
	x.tmux("respawn-pane", "-k", strings.TrimPrefix(fmt.Sprintf("cd %s; env PEX_HOME=%[1]s/home TERM=xterm-256color %s pexctl chat . --memory-id m1; echo code $?; sleep 600", filepath.Dir(x.socket), noSleep), " "))
	x.await(`(?s)Continuing run .*answer ›`)
	random := rand.New(rand.NewPCG(7, 7))
	for range 100 {
		x.tmux("resize-window", "-x", fmt.Sprint(10+random.IntN(120)), "-y", fmt.Sprint(4+random.IntN(40)))
	}
	x.tmux("resize-window", "-x", "80", "-y", "24")
	order := regexp.MustCompile(`(?s)^Talking to desk.*May step s1 call clock.*plan v1.*answer ›`)
	x.awaitThat("after the resizes, the screen has each part once", func(f string) bool {
		return order.MatchString(f) && strings.Count(f, "Talking to desk") == 1 && strings.Count(f, "plan v1") == 1 && strings.Count(f, "answer ›") == 1
	})
	x.tmux("send-keys", "-l", "y")
	x.paste(10 << 20)
	x.await(`not inserted: a text of 10240 KiB; the limit is 512 KiB`)
	x.await(`answer › y`)
	x.keys("Enter")
	x.await(`It is noon\.`)
	x.paste(200 << 10)
	x.tmux("send-keys", "-l", " fin")
	x.await(`x fin`)
	x.keys("C-c")
	x.say("/quit")
	x.await(`code 0`)
}

// paste pastes a text of n bytes as a terminal does.
func (x *terminal) paste(n int) {
	x.t.Helper()
	file := filepath.Join(x.t.TempDir(), "paste")
	if err := os.WriteFile(file, []byte(strings.Repeat("x", n)), 0o600); err != nil {
		x.t.Fatal(err)
	}
	x.tmux("load-buffer", file)
	x.tmux("paste-buffer", "-p")
}

// An answer with control sequences is shown, and does nothing.
func TestHostileAnswersInAChat(t *testing.T) {
	x := newTerminal(t, 80, 24, "--color always")
	x.await("/help")
	x.say("Colours?")
	x.await("answer ›")
	x.say("y")
	f := x.await(`evil␇ ␛\]0;title␇end`)
	if !strings.Contains(f, "Talking to desk") || !strings.Contains(f, "␛[2J␛[31mred �evil␇") {
		t.Errorf("%s", f)
	}
	if title := x.tmux("display-message", "-p", "#{pane_title}"); strings.Contains(title, "title") {
		t.Errorf("the title is %q", title)
	}
}
