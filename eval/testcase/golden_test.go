package testcase_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/dsl/testspec"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/eval/report"
)

func TestGoldensOfACase(t *testing.T) {
	l := newLab(t)
	c := testspec.Case{
		Render: []string{"planner"}, Run: &testspec.CaseRun{Replies: `call read {"path":"data.txt"}`}, Golden: l.path("spec/golden"),
	}
	const all = "planner.prompt.md, planner.params.json, tools.json, trajectory.json, output.md"
	out := l.run(t, c)
	want(t, out, report.TestFailed, "missing spec/golden: there are no golden files yet for "+all+"; pexctl test --update")
	if out.GoldenProblems() != 1 || len(out.Changes) != 5 {
		t.Errorf("%d problems of %d changes", out.GoldenProblems(), len(out.Changes))
	}

	l.bench.Update = true
	if out := l.run(t, c); out.Status != report.TestUpdated || len(out.Changes) != 5 {
		t.Fatalf("%s, %d changes:\n%s", out.Status, len(out.Changes), problemsOf(out))
	}
	if out := l.run(t, c); out.Status != report.TestPassed || len(out.Changes) != 0 {
		t.Errorf("again: %s, %d changes", out.Status, len(out.Changes))
	}
	l.bench.Update = false
	for name, text := range map[string]string{
		"planner.prompt.md": "## system\n\nYou plan.\n\n## user\n\nwhy?\n",
		"output.md":         "before\n",
	} {
		if d := cmp.Diff(text, l.get(t, "spec/golden/"+name)); d != "" {
			t.Error(name, d)
		}
	}
	trajectory := l.get(t, "spec/golden/trajectory.json")
	for _, part := range []string{`"status": "completed"`, `"tool": "read"`, `"path": "data.txt"`, `"result": "before"`} {
		if !strings.Contains(trajectory, part) {
			t.Errorf("no %s in\n%s", part, trajectory)
		}
	}
	for _, part := range []string{"duration", "usage", "tokens"} {
		if strings.Contains(trajectory, part) {
			t.Errorf("%s in\n%s", part, trajectory)
		}
	}
}

// A changed prompt names the text of the spec that changed it.
func TestChangedPromptNamesItsCause(t *testing.T) {
	l := newLab(t)
	c := testspec.Case{Render: []string{"planner"}, Golden: l.path("spec/planner.md")}
	l.bench.Update = true
	l.run(t, c)
	l.bench.Update = false
	l.agent.prompt = "You plan and you think."
	l.unit.Sources = []dsl.Source{
		{Path: "executor.system_prompt", File: "spec.yaml", Line: 2, Text: "You execute."},
		{Path: "planner.system_prompt", File: "spec.yaml", Line: 41, Text: "You plan and you think."},
	}
	out := l.run(t, c)
	want(t, out, report.TestFailed, "golden spec/planner.md: planner.prompt.md differs from its golden file: 1 line removed, 1 added")
	p := out.Problems[0]
	if p.File != "spec.yaml" || p.Line != 41 || !strings.Contains(p.Diff, "-You plan.\n+You plan and you think.\n") {
		t.Errorf("%+v", p)
	}
	if len(out.Changes) != 1 || len(out.Changes[0].Causes) == 0 {
		t.Errorf("changes %+v", out.Changes)
	}
}

// Paths of the project and of its copy are masked.
func TestGoldensMaskPaths(t *testing.T) {
	l := newLab(t)
	l.bench.Update = true
	c := testspec.Case{Golden: l.path("spec/golden"), Run: &testspec.CaseRun{
		Replies: "call read {\"path\":\"dir\"}\ncall write {\"path\":\"x\",\"text\":\"\"}\ncall write {\"path\":\"dir\",\"text\":\"\"}",
	}}
	l.run(t, c)
	if d := cmp.Diff("in <root>/spec\nwritten\nin <root>/spec\n", l.get(t, "spec/golden/output.md")); d != "" {
		t.Error(d)
	}
}

// Goldens that a failed run does not produce stay as they are.
func TestUpdateOfFailedRunKeepsGoldens(t *testing.T) {
	l := newLab(t)
	l.put(t, "spec/golden/trajectory.json", "kept\n")
	l.own, l.bench.Update = nil, true
	out := l.run(t, testspec.Case{Golden: l.path("spec/golden"), Render: []string{"planner"}, Run: &testspec.CaseRun{}})
	if out.Status != report.TestFailed || l.get(t, "spec/golden/trajectory.json") != "kept\n" {
		t.Errorf("%s:\n%s", out.Status, problemsOf(out))
	}
	l.put(t, "spec/other/output.md", "kept\n")
	if out := l.run(t, testspec.Case{Name: "other", Golden: l.path("spec/other"), Run: &testspec.CaseRun{}}); out.Status != report.TestFailed {
		t.Errorf("%s:\n%s", out.Status, problemsOf(out))
	}
	unused, err := l.unit.Goldens.Unused(l.path("spec/other"))
	if err != nil || len(unused) > 0 {
		t.Errorf("unused %v, %v", unused, err)
	}
	if _, err := os.Stat(l.path("spec/golden/planner.prompt.md")); err != nil {
		t.Error("the golden of the failed run's prompt is missing:", err)
	}
}

// Goldens of a case that fails early do not count as unused.
func TestGoldensOfFailedCaseAreNotUnused(t *testing.T) {
	for _, tt := range []struct {
		name string
		c    testspec.Case
	}{
		{"a mask that cannot be", testspec.Case{Run: &testspec.CaseRun{Replies: "yes"}, Redact: []testspec.Redact{{Name: strings.Repeat("a", 70), Pattern: "x"}}}},
		{"a state that is none", testspec.Case{Given: []byte(`{"steps": 1}`), Run: &testspec.CaseRun{Replies: "yes"}}},
		{"parameters that do not fit", testspec.Case{Parameters: map[string]any{"x": 1}, Run: &testspec.CaseRun{Replies: "yes"}}},
		{"a fault that cannot be", testspec.Case{Run: &testspec.CaseRun{Replies: "yes"}, Inject: []testspec.Inject{{Tool: "x", Error: testspec.InjectRefusal}}}},
		{"a cassette that is not there", testspec.Case{Run: &testspec.CaseRun{Cassette: "/none"}}},
		{"a node that there is not", testspec.Case{Render: []string{"plannr"}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := newLab(t)
			l.bench.Update = true
			l.put(t, "spec/golden/trajectory.json", "kept\n")
			tt.c.Golden = l.path("spec/golden")
			if out := l.run(t, tt.c); out.Status == report.TestPassed || out.Status == report.TestUpdated {
				t.Fatalf("the case passed: %s", problemsOf(out))
			}
			if unused, err := l.unit.Goldens.Unused(l.path("spec/golden")); err != nil || len(unused) > 0 {
				t.Errorf("unused %v, %v", unused, err)
			}
		})
	}
}

// Output that differs in a second run is reported.
func TestUnstableGoldenIsReported(t *testing.T) {
	l := newLab(t)
	l.bench.Update = true
	l.own = &counter{}
	c := testspec.Case{Run: &testspec.CaseRun{}, Golden: l.path("spec/golden")}
	want(
		t, l.run(t, c), report.TestFailed,
		"golden spec/golden/trajectory.json: trajectory.json differs when the case runs again: mask what varies with redact",
		"golden spec/golden/output.md: output.md differs",
	)
	c.Redact = []testspec.Redact{{Name: "count", Pattern: `count (\d+)`}}
	want(t, l.run(t, c), report.TestUpdated)
}

// counter is a model that replies differently each time.
type counter struct{ n int }

func (c *counter) Generate(context.Context, *model.Request, func(model.Delta)) (*model.Reply, error) {
	c.n++
	return &model.Reply{Text: fmt.Sprint("count ", c.n), Stop: model.EndTurn}, nil
}

// A change without a cause in the spec says so; a text of the case is named.
func TestChangeWithoutCauseInSpec(t *testing.T) {
	l := newLab(t)
	c := testspec.Case{Render: []string{"planner"}, Golden: l.path("spec/planner.md")}
	l.bench.Update = true
	l.run(t, c)
	l.bench.Update = false
	l.agent.prompt = "You are another program's prompt."
	want(t, l.run(t, c), report.TestFailed, "1 line removed, 1 added; no prompt in the spec causes it: check the settings, and the version of pexctl that wrote the golden file")
	l.agent.prompt = "You plan."
	c.Parameters = map[string]any{"question": "who?"}
	out := l.run(t, c)
	want(t, out, report.TestFailed, "planner.prompt.md differs from its golden file: 1 line removed, 1 added")
	if causes := out.Changes[0].Causes; len(causes) != 1 || causes[0].String() != "tests.yaml (parameters.question)" {
		t.Errorf("causes %v", causes)
	}
}
