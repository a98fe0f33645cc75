//go:build faults && linux

package crashtest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pexctl/pex/engine/memory"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/providers/badger"
)

// world is one run with all that belongs to it: a folder with the spec, a home,
// a ledger, and the person who looks after the run.
type world struct {
	t        testing.TB
	dir      string // spec, ledger and events
	home     string
	sets     []string // flags of run
	env      []string // environment of all commands, in a build with failpoints
	exists   bool     // its first session may have written its first record
	sessions int
	log      strings.Builder // of all sessions, for messages
	told     acknowledged
	figures
}

// figures are counted over a world's life.
type figures struct{ kills, resumes, doubts, redone, done, acked int }

func (f *figures) add(g figures) {
	f.kills += g.kills
	f.resumes += g.resumes
	f.doubts += g.doubts
	f.redone += g.redone
	f.done += g.done
	f.acked += g.acked
}

func (f figures) String() string {
	return fmt.Sprintf("%d kills, %d resumes, %d acknowledged tool calls and steps, %d writes in doubt (%d done, %d not)",
		f.kills, f.resumes, f.acked, f.doubts, f.done, f.redone)
}

const runID = "r"

// newWorld returns a world whose runs have these flags. NAME=VALUE is for the environment.
func newWorld(t testing.TB, sets ...string) *world {
	t.Helper()
	w := &world{t: t, dir: t.TempDir()}
	for _, set := range sets {
		if strings.HasPrefix(set, "PEX_") {
			w.env = append(w.env, set)
		} else {
			w.sets = append(w.sets, set)
		}
	}
	w.home = filepath.Join(w.dir, "home")
	w.write("spec.yaml", w.read("testdata/spec.yaml"))
	return w
}

// remember stores another conversation in the memory's inbox. The next command that reads
// the memory imports it.
func (w *world) remember() {
	w.t.Helper()
	s := badger.Open(filepath.Join(w.home, "memory"), badger.Options{Inbox: 1 << 20})
	in := memory.Interaction{ID: "1", MemoryID: "other", Question: "When do you open?", Answer: "At 10.", Status: stop.RunCompleted}
	if err := s.Append(w.t.Context(), in); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) read(path string) []byte {
	w.t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		w.t.Fatal(err)
	}
	return b
}

func (w *world) write(name string, b []byte) {
	w.t.Helper()
	if err := os.WriteFile(filepath.Join(w.dir, name), b, 0o600); err != nil {
		w.t.Fatal(err)
	}
}

// session is one process of pexctl.
type session struct {
	*exec.Cmd
	stdout, stderr bytes.Buffer
	events         string
}

// result is what -o json prints, as far as these tests look.
type result struct {
	Status     string          `json:"status"`
	StopReason json.RawMessage `json:"stop_reason"`
	Response   string          `json:"response"`
	Steps      []step          `json:"steps"`
	Usage      struct {
		ModelCalls int `json:"model_calls"`
		ToolCalls  int `json:"tool_calls"`
	} `json:"usage"`
	Interrupts []struct {
		Path string `json:"path"`
		Kind string `json:"kind"`
	} `json:"interrupts"`
	Warnings []string `json:"warnings"`
}

type step struct {
	ID        string `json:"id"`
	Goal      string `json:"goal"`
	Status    string `json:"status"`
	Result    string `json:"result"`
	Error     string `json:"error"`
	ToolCalls []struct {
		Tool   string          `json:"tool"`
		Args   json.RawMessage `json:"args"`
		Result json.RawMessage `json:"result"`
		Status string          `json:"status"`
	} `json:"tool_calls"`
}

// command is a session that is not started: run, or resume with answers.
func (w *world) command(f fate, args ...string) *session {
	w.sessions++
	program := plain
	if f.at != "" || len(w.env) > 0 {
		program = trapped
	}
	s := &session{events: filepath.Join(w.dir, fmt.Sprintf("events-%d.jsonl", w.sessions))}
	s.Cmd = exec.Command(program, append(args, "-o", "json", "-q", "--home", w.home, "--events", s.events)...)
	s.Dir, s.Stdout, s.Stderr = w.dir, &s.stdout, &s.stderr
	s.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + w.dir, "TMPDIR=" + os.TempDir()}
	s.Env = append(s.Env, w.env...)
	if f.at != "" {
		s.Env = append(s.Env, "PEX_FAILPOINT="+f.at)
	}
	return s
}

func (w *world) begin(f fate) *session {
	args := append([]string{"run", "spec.yaml", "go", "--run-id", runID, "--memory-id", "m"}, w.sets...)
	return w.command(f, args...)
}

func (w *world) resume(f fate, answers ...string) *session {
	args := []string{"resume", runID}
	for _, a := range answers {
		args = append(args, "--answer", a)
	}
	w.resumes++
	return w.command(f, args...)
}

// outcomes of a session, beside exit codes.
const (
	killed      = -1
	done        = 0
	usage       = 2
	infra       = 3
	waits       = 5
	interrupted = 130
	terminated  = 143
)

// longest is how long any session may take before it counts as hung.
const longest = 30 * time.Second

// finish runs a session to the end that fate has for it. It gives the exit code.
func (w *world) finish(s *session, f fate) int {
	w.t.Helper()
	if err := s.Start(); err != nil {
		w.t.Fatal(err)
	}
	if f.kill > 0 {
		defer time.AfterFunc(f.kill, func() { _ = s.Process.Kill() }).Stop()
	}
	if f.term > 0 {
		defer time.AfterFunc(f.term, func() { _ = s.Process.Signal(syscall.SIGTERM) }).Stop()
	}
	return w.ended(s)
}

// ended waits for a session and takes down what it acknowledged.
func (w *world) ended(s *session) int {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), longest)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { _ = s.Process.Signal(syscall.SIGQUIT) }) // shows where it hangs
	_ = s.Wait()
	if !stop() {
		w.fatal("the session %v hung: %s", s.Args, s.stderr.String())
	}
	code := s.ProcessState.ExitCode()
	fmt.Fprintf(&w.log, "%s -> %d %s\n", strings.Join(s.Args[1:], " "), code, strings.TrimSpace(s.stderr.String()))
	if strings.Contains(s.stderr.String(), "panic") || strings.Contains(s.stderr.String(), "fatal error") {
		w.fatal("a panic reached the user")
	}
	if code == killed {
		w.kills++
	}
	w.acknowledge(s.events)
	return code
}

// fatal ends the test with the world's whole story.
func (w *world) fatal(format string, args ...any) {
	w.t.Helper()
	ledger, _ := os.ReadFile(filepath.Join(w.dir, "ledger"))
	w.t.Fatalf("%s\nsessions:\n%s\nledger:\n%s\njournal:\n%s", fmt.Sprintf(format, args...), w.log.String(), ledger, w.tail())
}

// tail is the end of the journal, without the requests.
func (w *world) tail() []byte {
	journal, _ := os.ReadFile(filepath.Join(w.home, "runs", runID+".jsonl"))
	lines := bytes.Split(journal, []byte("\n"))
	lines = lines[max(0, len(lines)-60):]
	for i, line := range lines {
		lines[i], _, _ = bytes.Cut(line, []byte(`,"digest":`))
	}
	return bytes.Join(lines, []byte("\n"))
}

func (w *world) result(s *session) *result {
	w.t.Helper()
	var r result
	if err := json.Unmarshal(s.stdout.Bytes(), &r); err != nil {
		w.fatal("stdout is no result: %v\n%s", err, s.stdout.String())
	}
	return &r
}

// without leaves words out of a command's arguments.
func without(args []string, words ...string) []string {
	return slices.DeleteFunc(slices.Clone(args), func(a string) bool { return slices.Contains(words, a) })
}
