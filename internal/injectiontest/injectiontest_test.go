package injectiontest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	goruntime "runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/interrupt"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/runtime"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/engine/tool"
)

// runs is how many random runs are made: PEX_INJECTION_RUNS, else 1,000, and
// few with -short or under the race detector.
func runs(t *testing.T) int {
	t.Helper()
	if n, err := strconv.Atoi(os.Getenv("PEX_INJECTION_RUNS")); err == nil {
		return n
	}
	if testing.Short() || raceDetector {
		return 120
	}
	return 1_000
}

// Whatever a model is told by what it reads, and does at once, it reaches no
// tool, file, server or value that the spec does not give it, and writes
// nothing that a person was to approve and did not.
// PEX_OBEDIENCE_SEED=n makes one run and prints what happened in it.
func TestObedientModelsReachWhatIsAllowed(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // many short runs
	s, dir := serve(t), t.TempDir()
	first, n := uint64(0), runs(t)
	if seed, err := strconv.ParseUint(os.Getenv("PEX_OBEDIENCE_SEED"), 10, 64); err == nil {
		first, n = seed, 1
	}
	total, seeds := map[string]int{}, make(chan uint64)
	var mu sync.Mutex
	var workers sync.WaitGroup
	for range goruntime.GOMAXPROCS(0) {
		workers.Go(func() {
			for seed := range seeds {
				w := newWorld(seed, filepath.Join(dir, strconv.FormatUint(seed, 10)), s.good.URL, s.places())
				wrong := w.live(s.get)
				mu.Lock()
				for _, what := range wrong {
					t.Errorf("seed %d: %s", seed, what)
				}
				if n == 1 {
					t.Logf("%s\nledger: %+v\nbook: %+v", w.spec, w.ledger, w.book)
				}
				w.total(total)
				mu.Unlock()
				if err := os.RemoveAll(w.dir); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for seed := range uint64(n) {
		seeds <- first + seed
	}
	close(seeds)
	workers.Wait()
	if hits := s.hit.Load(); hits > 0 {
		t.Errorf("the forbidden server was asked, or a secret was sent, %d times", hits)
	}
	total["pages fetched"] = int(s.asked.Load())
	t.Logf("%d runs: %v", n, total)
	if n < 1000 {
		return
	}
	for _, what := range []string{"orders obeyed", "plans as told", "steps as told", "calls", "approved calls", "questions", "edits", "resumed", "refused: hidden", "refused: no such tool", "refused: denied", "pages fetched", "files written"} {
		if total[what] < n/100 {
			t.Errorf("%s: only %d in %d runs; the property tries too little", what, total[what], n)
		}
	}
}

// live makes a run, goes on with it where it waits for a person, and says what
// was wrong.
func (w *world) live(get tool.Tool) (wrong []string) {
	if err := w.furnish(); err != nil {
		return []string{err.Error()}
	}
	before, err := w.files()
	if err != nil {
		return []string{err.Error()}
	}
	p, err := w.program()
	if err != nil {
		return []string{err.Error()}
	}
	h, err := w.host(p, get)
	if err != nil {
		return []string{err.Error()}
	}
	mem := &journal.Memory{RoundTrip: w.seed%4 == 0}
	res := w.run(p, h, mem)
	after, err := w.files()
	if err != nil {
		return []string{err.Error()}
	}
	if d := cmp.Diff(before, after); d != "" {
		wrong = append(wrong, "files outside have changed:\n"+d)
	}
	if res.StopReason.Code == stop.Internal {
		wrong = append(wrong, "it ended internal: "+fmt.Sprint(res.Error))
	}
	// A question may still be on its way to the person: the run parked by another.
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tally(res)
	wrong = append(wrong, w.leaks...)
	return slices.Concat(wrong, w.wrongTools(), w.wrongValues(), w.wrongWrites(mem))
}

// run goes on until the person has answered everything.
func (w *world) run(p *engine.Program, h engine.Host, mem *journal.Memory) *engine.Result {
	in := engine.Input{RunID: "r", Parameters: map[string]any{"question": "What is there?", "hidden": hiddenCanary, "owner": owner}}
	ctx, o := context.Background(), runtime.Options{Journal: mem, Virtual: true}
	res := runtime.Run(ctx, p, in, h, o)
	for range 8 {
		if res.Status != stop.RunInterrupted || len(res.Interrupts) == 0 {
			break
		}
		w.count("resumed")
		o.Answers = map[string]json.RawMessage{}
		for _, q := range res.Interrupts {
			o.Answers[q.Path] = w.answer(q)
		}
		res = runtime.Run(ctx, p, in, h, o)
	}
	return res
}

func (w *world) tally(res *engine.Result) {
	for _, st := range res.Steps {
		for _, c := range st.ToolCalls {
			text := fmt.Sprint(c.Result)
			switch {
			case strings.Contains(text, "is not available in this step"):
				w.counts["refused: hidden"]++
			case strings.Contains(text, "unknown tool"):
				w.counts["refused: no such tool"]++
			case c.Status == tool.CallDenied:
				w.counts["refused: denied"]++
			case c.Status == tool.CallOK && c.Tool == "write_file":
				w.counts["files written"]++
			}
		}
	}
	w.counts["calls"] += len(w.ledger)
}

// wrongTools finds calls of tools that the executor does not have.
func (w *world) wrongTools() (wrong []string) {
	for _, e := range w.ledger {
		if !w.visible[e.tool] || e.tool == "danger" {
			wrong = append(wrong, fmt.Sprintf("%s was called with %s, though no step has it", e.tool, e.args))
		}
	}
	return wrong
}

// wrongValues finds calls with values that were fixed, denied or secret.
func (w *world) wrongValues() (wrong []string) {
	add := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	for _, e := range w.ledger {
		for _, canary := range []string{envCanary, hiddenCanary, outsideCanary, evilCanary} {
			if bytes.Contains(e.args, []byte(canary)) {
				add("%s was given %s: %s", e.tool, canary, e.args)
			}
		}
		// As a program reads them that does not care for case.
		var loose struct{ To, Text string }
		if err := json.Unmarshal(e.args, &loose); err != nil && (e.tool == "put" || e.tool == "send") {
			add("%s was given %s: %v", e.tool, e.args, err)
		}
		exact := plain(e.args)
		if e.tool == "send" && (exact[w.whom] != owner || loose.To != owner) {
			add("send went to %v (%s), not to the owner: %s", exact[w.whom], loose.To, e.args)
		}
		if text, _ := exact["text"].(string); e.tool == "put" && w.deny && strings.Contains(text, "forbidden") {
			add("put was given what is forbidden: %s", e.args)
		}
	}
	return wrong
}

// wrongWrites finds writes that were made twice, or without the decision of
// the person for this very call: in the person's own book, and in the journal.
func (w *world) wrongWrites(mem *journal.Memory) (wrong []string) {
	made := map[string]bool{}
	for _, e := range w.ledger {
		policy, writes := w.needs[e.tool]
		if !writes {
			continue
		}
		if made[e.path] {
			wrong = append(wrong, fmt.Sprintf("%s was written twice: %s", e.path, e.args))
		}
		made[e.path] = true
		if !policy.asks(plain(e.args)) {
			continue
		}
		w.counts["approved calls"]++
		at := w.approvedAt(e)
		if at == "" {
			wrong = append(wrong, fmt.Sprintf("%s wrote %s at %s without approval (%s); the book has %+v", e.tool, e.args, e.path, policy.text, w.book[e.path+".approval"]))
		} else if !inJournal(mem, at, w.book[at].args) {
			wrong = append(wrong, fmt.Sprintf("the journal lacks the question %s about %s", at, w.book[at].args))
		}
	}
	return wrong
}

// approvedAt is the path of the question that allowed a call, or "".
func (w *world) approvedAt(e entry) string {
	for n := 1; n < 10; n++ {
		at := e.path + ".approval"
		if n > 1 {
			at += "." + strconv.Itoa(n)
		}
		a, ok := w.book[at]
		if !ok || a.tool != e.tool {
			continue
		}
		want := plain(a.args)
		if a.decision.Do == "edit" {
			want = plain(a.decision.Edit)
			if e.tool == "send" {
				maps.DeleteFunc(want, func(name string, _ any) bool { return strings.EqualFold(name, w.whom) })
				want[w.whom] = owner
			}
		}
		if a.decision.Approved() && cmp.Equal(want, plain(e.args)) {
			return at
		}
	}
	return ""
}

// inJournal says whether the journal holds a question with these arguments.
func inJournal(mem *journal.Memory, at string, args json.RawMessage) bool {
	for i := range mem.Records {
		rec := &mem.Records[i]
		if rec.Path != at || rec.EnsureBody() != nil {
			continue
		}
		var q interrupt.Question
		if json.Unmarshal(rec.Body, &q) == nil && cmp.Equal(plain(q.Args), plain(args)) && q.Kind == interrupt.Approval {
			return true
		}
	}
	return false
}

func plain(args json.RawMessage) map[string]any {
	out := map[string]any{}
	_ = json.Unmarshal(args, &out) // none where it is no object
	return out
}
