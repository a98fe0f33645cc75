//go:build faults && linux

package crashtest_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// homeSuite is an evaluation beside the runs of a home.
const homeSuite = `apiVersion: pex/v1
kind: Suite
metadata: {name: shop}
spec: shop-spec.yaml
dataset: {rows: [{id: a, question: A}, {id: b, question: B}]}
checks: [{type: contains, value: "10"}]
`

const homeSuiteSpec = `apiVersion: pex/v1
kind: Agent
metadata: {name: shop}
llms: {m: {provider: scripted, options: {replies: [{text: '{"steps": [], "result": "We open at 10."}', times: 0}]}}}
planner: {llm: m}
executor: {llm: m}
`

// askSpec is an agent whose only write waits for a person.
const askSpec = `apiVersion: pex/v1
kind: Agent
metadata: {name: asks}
llms:
  m:
    provider: scripted
    options:
      replies:
        - {role: planner, text: '{"steps": ["Book it"]}'}
        - {role: executor, when: call == 1, tool_calls: [{name: book, arguments: {}}]}
        - {role: executor, when: prompt contains "booked", text: it is booked}
        - {role: reflector, when: prompt contains "it is booked", text: '{"result": "It is booked."}'}
planner: {llm: m}
executor: {llm: m}
memory: {backend: none}
tools:
  book: {type: command, effect: write, approval: always, argv: [sh, -c, 'echo "write $PEX_IDEMPOTENCY_KEY book" >> ledger; echo booked']}
`

// searchSpec is an agent that searches documents, whose index is in the home.
const searchSpec = `apiVersion: pex/v1
kind: Agent
metadata: {name: finder}
llms:
  m:
    provider: scripted
    options:
      replies:
        - {role: planner, text: '{"steps": ["Look it up"]}'}
        - {role: executor, when: call == 1, tool_calls: [{name: find, arguments: {query: opens Mondays}}]}
        - {role: executor, when: prompt contains "opens at 10", text: we open at 10}
        - {role: reflector, when: prompt contains "we open at 10", text: '{"result": "We open at 10."}'}
planner: {llm: m}
executor: {llm: m}
memory: {backend: none}
tools: {find: {type: retrieve, root: docs}}
`

const homeTrust = `{"version": 1, "trusted": [{"digest": "sha256:0000000000000000000000000000000000000000000000000000000000000000", "files": ["a.yaml"]}]}
`

// homeDamages are what may happen to a file of a home, hostile hands included.
var homeDamages = append([]string{
	"flip 25", "flip 75", "flip 95", "cut line", "garbage", "fifo", "folder", "device", "dangling",
}, damages...)

// Every file of a home with a run that ended, one that was killed, one that waits
// for a person, a conversation, another in the memory's inbox, an evaluation, an
// index and trusted digests, damaged in every way: no command hangs or panics, and none shows something else than the truth and
// says that all is well.
func TestAnyDamageToAHomeIsNamedOrDoesNoHarm(t *testing.T) {
	want := undisturbed(newWorld(t))
	w := newWorld(t)
	w.write("suite.yaml", []byte(homeSuite))
	w.write("shop-spec.yaml", []byte(homeSuiteSpec))
	w.ok("run", "spec.yaml", "go", "--run-id", "ended", "--memory-id", "m")
	w.ok("eval", "suite.yaml", "--id", "shop")
	if err := os.WriteFile(filepath.Join(w.home, "trust.json"), []byte(homeTrust), 0o600); err != nil {
		t.Fatal(err)
	}
	w.write("asks.yaml", []byte(askSpec))
	if code := w.finish(w.command(fate{}, "run", "asks.yaml", "go", "--run-id", "asks"), fate{}); code != waits {
		t.Fatalf("the run that asks ended %d", code)
	}
	w.write("search.yaml", []byte(searchSpec))
	if err := os.Mkdir(filepath.Join(w.dir, "docs"), 0o700); err != nil {
		t.Fatal(err)
	}
	w.write("docs/hours.md", []byte("# Hours\n\nThe shop opens at 10 on Mondays.\n"))
	w.ok("run", "search.yaml", "go", "--run-id", "finds")
	w.ok("runs", "rm", "finds", "--yes")
	s := w.begin(fate{})
	w.until(s, func() bool { return strings.Count(string(w.read(filepath.Join(w.dir, "ledger"))), " r/") > 5 })
	_ = s.Process.Kill()
	w.ended(s)
	w.remember()
	before := filepath.Join(t.TempDir(), "before")
	if err := os.CopyFS(before, os.DirFS(w.dir)); err != nil {
		t.Fatal(err)
	}
	truth := map[string]string{}
	for _, show := range homeShows {
		truth[show] = w.ok(strings.Fields(show)...)
	}
	w.restore(before)
	files, cells, named, commands := filesOf(t, w.home), 0, 0, w.sessions
	began := time.Now()
	for _, file := range files {
		for _, damage := range homeDamages {
			w.restore(before)
			cells++
			if err := harmHome(filepath.Join(w.home, file), damage); err != nil {
				t.Fatalf("%s %s: %v", damage, file, err)
			}
			if w.cell(file+": "+damage, truth, want) {
				named++
			}
		}
	}
	t.Logf("%d files, %d cells, %d commands, damage was named in %d; %s", len(files), cells, w.sessions-commands, named, time.Since(began).Round(time.Second))
	if named == 0 {
		t.Error("no damage was ever named")
	}
}

// homeShows are commands whose output must be the truth when they succeed.
var homeShows = []string{"runs show ended", "eval show shop", "memory show m", "memory show other"}

// cell uses a damaged home, and reports whether a command named the damage.
func (w *world) cell(what string, truth map[string]string, want *result) (named bool) {
	w.t.Helper()
	use := func(args ...string) (string, int) {
		s := w.command(fate{}, args...)
		s.Args = without(s.Args, "-q", "--events", s.events)
		code := w.finish(s, fate{})
		unfinished := args[0] == "eval" && (code == interrupted || code == usage) // rows or the manifest are gone
		if code != done && code != infra && !unfinished {
			w.t.Errorf("%s: %v ended %d: %s", what, args, code, s.stderr.String())
		}
		named = named || code == infra
		return s.stdout.String(), code
	}
	use("store", "check")
	if list, code := use("runs", "ls"); code == done {
		for _, id := range []string{"ended", "r", "asks"} {
			if !strings.Contains(list, fmt.Sprintf("%q", id)) {
				w.t.Errorf("%s: runs ls leaves %s out: %s", what, id, list)
			}
		}
	}
	if got, code := use("run", "search.yaml", "go", "--run-id", "again"); code == done && !strings.Contains(got, `"response": "We open at 10."`) {
		w.t.Errorf("%s: the search gave something else: %s", what, got)
	}
	for _, show := range homeShows {
		if got, code := use(strings.Fields(show)...); code == done && got != truth[show] {
			w.t.Errorf("%s: %s shows something else than it was", what, show)
		}
	}
	asked, ended := w.isApproved(what), w.comesToItsEnd(what, want)
	return named || asked || ended
}

// isApproved resumes the run that waits for a person and approves: its write is
// made once, or a command says why not.
func (w *world) isApproved(what string) (named bool) {
	w.t.Helper()
	args := []string{"resume", "asks"}
	for range 3 {
		s := w.command(fate{}, args...)
		switch code := w.finish(s, fate{}); code {
		case done:
			if got := w.result(s); got.Response != "It is booked." {
				w.t.Errorf("%s: the approved run ended otherwise: %s", what, got.Response)
			}
			for key, times := range w.ledger() {
				if strings.HasPrefix(key, "write asks/") && times != 1 {
					w.t.Errorf("%s: %s was performed %d times", what, key, times)
				}
			}
			return false
		case waits:
			for _, q := range w.result(s).Interrupts {
				args = append(args, "--answer", q.Path+"=approve")
			}
		case infra:
			return true
		default:
			w.t.Errorf("%s: resume of the run that asks ended %d: %s", what, code, s.stderr.String())
			return false
		}
	}
	w.t.Errorf("%s: the run asks without end", what)
	return false
}

// comesToItsEnd resumes the killed run: it comes to its end with each write made
// once, or a command says why not.
func (w *world) comesToItsEnd(what string, want *result) (named bool) {
	w.t.Helper()
	answers := []string(nil)
	for range 3 {
		s := w.resume(fate{}, answers...)
		switch code := w.finish(s, fate{}); code {
		case done:
			got := w.result(s)
			if got.Response != want.Response || len(got.Steps) != len(want.Steps) {
				w.t.Errorf("%s: the run came to another end: %s", what, got.Response)
			}
			for key, times := range w.ledger() {
				if strings.HasPrefix(key, "write ") && times != 1 {
					w.t.Errorf("%s: %s was performed %d times", what, key, times)
				}
			}
			return false
		case waits:
			answers = w.decide(w.result(s))
		case infra:
			return true
		default:
			w.t.Errorf("%s: resume ended %d: %s", what, code, s.stderr.String())
			return false
		}
	}
	w.t.Errorf("%s: the run asks without end", what)
	return false
}

// ok runs a command that must succeed, and returns what it prints.
func (w *world) ok(args ...string) string {
	w.t.Helper()
	s := w.command(fate{}, args...)
	if args[0] != "run" {
		s.Args = without(s.Args, "-q", "--events", s.events)
	}
	if code := w.finish(s, fate{}); code != done {
		w.fatal("%v ended %d", args, code)
	}
	return s.stdout.String()
}

func harmHome(path, damage string) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	switch damage {
	case "cut line":
		if n := strings.LastIndexByte(strings.TrimRight(string(b), "\n"), '\n'); n > 0 {
			return os.Truncate(path, int64(n+1))
		}
		return os.Truncate(path, 0)
	case "garbage":
		return os.WriteFile(path, append(b, "\x00garbage\n"...), 0o600)
	case "fifo", "folder", "device", "dangling":
		if err := os.Remove(path); err != nil {
			return err
		}
		switch damage {
		case "fifo":
			return syscall.Mkfifo(path, 0o600)
		case "folder":
			return os.Mkdir(path, 0o700)
		case "device":
			return os.Symlink("/dev/zero", path)
		default:
			return os.Symlink(path+".nowhere", path)
		}
	}
	return harm(path, damage)
}

// A hundred runs at once on one home and one conversation, three times over, on
// a machine with ten busy processes beside: all succeed.
func TestAHundredRunsOnOneConversation(t *testing.T) {
	const runs = 100
	for round := range number(t, "PEX_FAULTS_CROWDS", 3) {
		home := newWorld(t)
		home.write("spec.yaml", []byte(crowdSpec))
		stop := busy(t, 10)
		began := time.Now()
		var all []*session
		for i := range runs {
			id := fmt.Sprint("r", i)
			s := home.command(fate{}, "run", "spec.yaml", "question "+id, "--run-id", id, "--memory-id", "m")
			if err := s.Start(); err != nil {
				t.Fatal(err)
			}
			all = append(all, s)
		}
		failed := 0
		for i, s := range all {
			_ = s.Wait()
			if code := s.ProcessState.ExitCode(); code != done || len(home.result(s).Warnings) > 0 {
				failed++
				t.Errorf("round %d, run r%d: exit code %d: %s %s", round, i, code, s.stderr.String(), s.stdout.String())
			}
		}
		stop()
		turns := home.ok("memory", "show", "m")
		for i := range runs {
			if n := strings.Count(turns, fmt.Sprintf(`"question r%d"`, i)); n != 1 {
				t.Errorf("round %d: the turn of run r%d is stored %d times", round, i, n)
			}
		}
		if n := strings.Count(turns, `"text": "run was here"`); n != 2*runs { // as a note, and in the trace of its turn
			t.Errorf("round %d: %d notes are stored", round, n)
		}
		t.Logf("round %d: %d of %d runs failed; %s", round, failed, runs, time.Since(began).Round(time.Second))
	}
}

const crowdSpec = `apiVersion: pex/v1
kind: Agent
metadata: {name: crowd}
llms:
  m:
    provider: scripted
    options:
      replies:
        - {role: planner, text: '{"steps": ["note it"]}'}
        - {role: executor, tool_calls: [{name: notepad, arguments: {action: add, text: "run was here"}}]}
        - {role: executor, text: noted}
        - {role: planner, text: '{"result": "all noted"}', times: 0}
        - {role: reflector, text: '{"result": "all noted"}', times: 0}
memory: {history: true}
planner: {llm: m}
executor: {llm: m}
tools: {notepad: {}}
`

// busy keeps n processes busy until stop is called.
func busy(t *testing.T, n int) (stop func()) {
	t.Helper()
	var all []*exec.Cmd
	stop = func() {
		for _, c := range all {
			_ = c.Process.Kill()
			_ = c.Wait()
		}
		all = nil
	}
	t.Cleanup(stop)
	for range n {
		c := exec.Command("sh", "-c", "while :; do :; done")
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		all = append(all, c)
	}
	return stop
}
