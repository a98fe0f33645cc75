//go:build unix

package main

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/engine/enginetest"
	"github.com/pexctl/pex/engine/goldentest"
	"github.com/pexctl/pex/engine/jsonvalue"
	"github.com/pexctl/pex/internal/app/version"
	"github.com/pexctl/pex/providers/temporal/workflowtest"
)

// Every run of testdata/run has the same journal and result as a workflow of Temporal, whose
// effects are activities.
func TestDriversAgree(t *testing.T) {
	if testing.Short() {
		t.Skip("engine/kernel runs in other worlds with -short")
	}
	t.Setenv("NO_COLOR", "1")
	pattern, err := filepath.Abs("../../testdata/run/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	compared, performed := 0, 0
	goldentest.Each(t, pattern, func(t *testing.T, a *goldentest.Archive) {
		if why := skipReason(t, a); why != "" {
			t.Skip(why)
		}
		home, dir := t.TempDir(), t.TempDir()
		t.Setenv("PEX_HOME", home)
		l := &lives{t: t, archive: a, dir: dir}
		l.record(home)
		for i := range l.starts {
			compared++
			local := &mortal{left: -1}
			want := untimed(t, jsonvalue.Encode(l.live(i, l.before(i), local)))
			out := l.asWorkflow(i, l.before(i))
			performed += out.Activities
			if d := cmp.Diff(string(lines(t, local.Records)), string(out.Journal)); d != "" {
				t.Errorf("run %d has another journal as a workflow (-local +workflow):\n%s", i+1, d)
			}
			if d := cmp.Diff(want, untimed(t, out.Result)); d != "" {
				t.Errorf("run %d ends otherwise as a workflow (-local +workflow):\n%s", i+1, d)
			}
		}
	})
	t.Logf("%d runs, %d activities", compared, performed)
}

// untimed returns the JSON of a result without its duration, which is measured outside the run.
func untimed(t *testing.T, result json.RawMessage) string {
	t.Helper()
	m, ok := jsonvalue.Decode(result).(map[string]any)
	if !ok {
		t.Fatalf("not a result: %s", result)
	}
	delete(m, "duration_ms")
	return string(jsonvalue.Encode(m))
}

// asWorkflow executes a run as a workflow.
func (l *lives) asWorkflow(i int, memory *enginetest.Store) workflowtest.Outcome {
	l.t.Helper()
	p := *l.starts[i]
	if p.Program.Memory.Backend != "none" {
		p.Host.Memory = memory
	}
	w := witness{}
	out, err := workflowtest.Execute(workflowtest.Run{Program: p.Program, Host: w.watch(p.Host), Input: p.Start.Input, Version: version.String(), Answer: w.answers})
	if err != nil {
		l.t.Fatalf("run %d: %v", i+1, err)
	}
	return out
}
