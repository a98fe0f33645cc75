//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/goldentest"
	"github.com/pexctl/pex/internal/acceptance"
)

// Each file of testdata/run tests one rule of the language: a spec, calls of
// pexctl with the expected results (case.json, as in testdata/contract), and, if
// their order matters, the events of the run.
func TestRunBehavesAsDesigned(t *testing.T) {
	t.Setenv("NO_COLOR", "1")
	pattern, err := filepath.Abs("../../testdata/run/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	goldentest.Each(t, pattern, func(t *testing.T, a *goldentest.Archive) {
		if testing.Short() && skipReason(t, a) == "" {
			t.Skip("TestKilledRunsResumeToTheSameOutcome runs it too: left to the runs without -short")
		}
		t.Setenv("PEX_HOME", t.TempDir())
		dir := t.TempDir()
		a.Extract(t, dir)
		t.Chdir(dir)
		c, err := acceptance.Load(".")
		if err != nil {
			t.Fatal(err)
		}
		bad, err := acceptance.RunHere(c, func(args []string, in io.Reader, out, err io.Writer) int {
			return run(args, streams{in, out, err})
		}, t.Setenv)
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range bad {
			t.Error(b)
		}
		if a.Has("events") {
			a.Want(t, "events", formatEvents(t, "events.jsonl"))
		}
	})
}

// formatEvents formats the events of a file, one per line: the type and its subject.
func formatEvents(t *testing.T, file string) string {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for line := range strings.Lines(string(content)) {
		var ev engine.Event
		if err := json.Unmarshal([]byte(line), &ev); err != nil {
			t.Fatal(err)
		}
		if ev.Type != engine.ModelDelta && ev.Type != engine.ModelStarted && ev.Type != engine.ToolStarted {
			fmt.Fprintln(&b, strings.Join(append([]string{string(ev.Type)}, about(ev)...), " "))
		}
	}
	return b.String()
}

// about returns the ids and outcomes in an event.
func about(ev engine.Event) []string {
	var out []string
	add := func(parts ...string) {
		for _, p := range parts {
			if p != "" {
				out = append(out, p)
			}
		}
	}
	if ev.Plan != nil {
		add(fmt.Sprintf("v%d", ev.Plan.Version))
		for _, st := range ev.Plan.Steps {
			add(st.ID)
		}
	}
	add(ev.Role, ev.Tool)
	if ev.Step != nil {
		add(ev.Step.ID, string(ev.Step.Status))
	}
	if ev.Guard != nil {
		add(ev.Guard.Name, string(ev.Guard.Do))
	}
	if ev.Interrupt != nil {
		add(string(ev.Interrupt.Kind), ev.Interrupt.Path)
	}
	add(ev.Status)
	if ev.Stop != nil {
		add(string(ev.Stop.Code))
	}
	return out
}
