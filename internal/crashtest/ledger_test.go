//go:build faults && linux

package crashtest_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// ledger is how often each call was performed: "write KEY" or "read KEY".
func (w *world) ledger() map[string]int {
	w.t.Helper()
	b, err := os.ReadFile(filepath.Join(w.dir, "ledger"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		w.t.Fatal(err)
	}
	out := map[string]int{}
	for line := range strings.Lines(string(b)) {
		words := strings.Fields(line)
		if len(words) != 3 {
			w.fatal("the ledger has the line %q", line)
		}
		out[words[0]+" "+words[1]]++
	}
	return out
}

// acknowledged is what processes told before they died.
type acknowledged struct {
	calls map[string]int    // per path how often the ledger had it by then
	tools map[string]string // per path what the tool gave
	steps map[string]string // per id its result
}

// event is as much of an event as these tests look at.
type event struct {
	Type string `json:"type"`
	Path string `json:"path"`
	Tool string `json:"tool"`
	Text string `json:"text"`
	Step struct {
		ID     string `json:"id"`
		Status string `json:"status"`
		Result string `json:"result"`
	} `json:"step"`
}

// acknowledge takes down the events of a session that has ended. A torn last
// line acknowledged nothing.
func (w *world) acknowledge(file string) {
	w.t.Helper()
	if w.told.calls == nil {
		w.told = acknowledged{map[string]int{}, map[string]string{}, map[string]string{}}
	}
	b, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		w.t.Fatal(err)
	}
	ledger := w.ledger()
	for line := range bytes.Lines(b) {
		var ev event
		if err := json.Unmarshal(line, &ev); err != nil {
			if bytes.HasSuffix(line, []byte("\n")) {
				w.fatal("%s has a line that is no event: %s", file, line)
			}
			return
		}
		switch ev.Type {
		case "tool.completed":
			if _, before := w.told.calls[ev.Path]; before {
				continue // after a crash the last few events may be told again
			}
			w.told.calls[ev.Path] = ledger[ev.Tool+" "+runID+"/"+ev.Path]
			w.told.tools[ev.Path] = ev.Text
			w.acked++
		case "step.completed":
			if _, before := w.told.steps[ev.Step.ID]; !before {
				w.acked++
			}
			w.told.steps[ev.Step.ID] = ev.Step.Result
		}
	}
}

// check holds a finished run against all witnesses.
func (w *world) check(got, want *result) {
	w.t.Helper()
	ledger := w.ledger()
	writes := 0
	for key, times := range ledger {
		if strings.HasPrefix(key, "write ") {
			writes++
			if times != 1 {
				w.fatal("%s was performed %d times", key, times)
			}
		}
	}
	if writes != 10 {
		w.fatal("%d writes were performed, want 10", writes)
	}
	for path, times := range w.told.calls {
		for _, tool := range []string{"read", "write"} {
			if now := ledger[tool+" "+runID+"/"+path]; now > times {
				w.fatal("%s was acknowledged when it had been performed %d times, now it has %d times", path, times, now)
			}
		}
	}
	steps := map[string]step{}
	for _, s := range got.Steps {
		steps[s.ID] = s
	}
	for id, text := range w.told.steps {
		if s := steps[id]; s.Status != "ok" || s.Result != text {
			w.fatal("step %s was acknowledged with %q; the result has %+v", id, text, s)
		}
	}
	w.same(got, want)
}

// same wants the answer and the steps of the undisturbed run.
func (w *world) same(got, want *result) {
	w.t.Helper()
	if got.Status != want.Status || got.Response != want.Response || string(got.StopReason) != string(want.StopReason) {
		w.fatal("the run ended %s %s %q\nundisturbed: %s %s %q", got.Status, got.StopReason, got.Response, want.Status, want.StopReason, want.Response)
	}
	if g, n := stepsOf(w, got), stepsOf(w, want); g != n {
		w.fatal("steps differ:\n%s\nundisturbed:\n%s", g, n)
	}
	if got.Usage != want.Usage {
		w.fatal("usage is %+v, undisturbed %+v", got.Usage, want.Usage)
	}
}

// stepsOf is the steps by id: side by side they end in any order.
func stepsOf(w *world, r *result) string {
	w.t.Helper()
	byID := map[string]step{}
	for _, s := range r.Steps {
		byID[s.ID] = s
	}
	b, err := json.MarshalIndent(byID, "", " ")
	if err != nil {
		w.t.Fatal(err)
	}
	return string(b)
}

// turns wants the run once in its conversation.
func (w *world) turns(want int) {
	w.t.Helper()
	s := w.command(fate{}, "memory", "show", "m")
	s.Args = without(s.Args, "-q", "--events", s.events)
	var memory struct {
		Interactions []struct {
			Run string `json:"run_id"`
		} `json:"interactions"`
	}
	if code := w.finish(s, fate{}); code != done {
		w.fatal("memory show ended %d", code)
	}
	if err := json.Unmarshal(s.stdout.Bytes(), &memory); err != nil || len(memory.Interactions) != want {
		w.fatal("the conversation has %d turns, want %d (%v): %s", len(memory.Interactions), want, err, s.stdout.String())
	}
}
