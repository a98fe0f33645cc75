package testcase_test

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/dsl/testspec"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/drift"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/eval/report"
	"github.com/pexctl/pex/eval/testcase"
)

const tapeFile = "spec/tape.jsonl"

// onTape returns a lab with a cassette of a run that calls a tool, and the case that replays it. There is no other
// model.
func onTape(t *testing.T) (*lab, testspec.Case) {
	l := newLab(t)
	l.own = speaker{text: `call read {"path":"data.txt"}` + "\nthat is all"}
	l.taped(t, tapeFile)
	l.own = nil
	l.put(t, "spec/data.txt", "changed since")
	return l, testspec.Case{Run: &testspec.CaseRun{Cassette: l.path(tapeFile)}, Checks: []testspec.Check{check("before\nthat is all")}}
}

func TestCassetteRepliesForModelsAndTools(t *testing.T) {
	l, c := onTape(t)
	out := l.run(t, c)
	want(t, out, report.TestPassed)
	if out.Stale != nil {
		t.Errorf("stale: %+v", out.Stale)
	}
	if l.get(t, "spec/data.txt") != "changed since" {
		t.Error("a tool was called")
	}
}

func TestDriftOfACassette(t *testing.T) {
	hotter := func(l *lab) { hot := 1.0; l.program.Models[0].Params.Temperature = &hot }
	prompt := func(l *lab) { l.agent.prompt = "You plan well." }
	for _, tt := range []struct {
		name     string
		change   func(*lab)
		tolerate []drift.Class
		status   report.TestStatus
		stale    int
		problems []string
	}{
		{"of prompts is no failure", prompt, nil, report.TestPassed, 1, nil},
		{"of parameters is one", hotter, nil, report.TestError, 0, []string{"replay spec/tape.jsonl: drift (parameters): the request differs from the recorded one at model; pexctl test --record all records the case again, --allow-drift parameters replays it anyway"}},
		{"unless it is allowed", hotter, []drift.Class{drift.Parameters}, report.TestPassed, 1, nil},
		{"of both", func(l *lab) { hotter(l); prompt(l) }, nil, report.TestError, 0, []string{"--allow-drift parameters"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l, c := onTape(t)
			tt.change(l)
			l.bench.Tolerate = tt.tolerate
			out := l.run(t, c)
			want(t, out, tt.status, tt.problems...)
			stale := 0
			if out.Stale != nil {
				stale = len(out.Stale.Calls)
			}
			if stale != tt.stale {
				t.Errorf("%d stale calls, want %d", stale, tt.stale)
			}
			if tt.status == report.TestError && !strings.Contains(out.Problems[0].Diff, "+temperature: 1") {
				t.Errorf("diff:\n%s", out.Problems[0].Diff)
			}
		})
	}
}

// Recorded replies that are no longer requested are one problem.
func TestUnusedRepliesAreProblem(t *testing.T) {
	l, c := onTape(t)
	l.program.Nodes["planner"] = quiet{l.agent}
	c.Checks = nil
	want(t, l.run(t, c), report.TestFailed, "unused spec/tape.jsonl: 1 recorded result was not used: tool.0")
	c.Inject = []testspec.Inject{{Role: "planner", Call: 1, Error: testspec.InjectRefusal}}
	want(t, l.run(t, c), report.TestPassed) // with faults, unused replies are expected
}

// quiet calls the model and ignores the reply.
type quiet struct{ *agent }

func (q quiet) Run(s engine.Scope) error {
	_, err := s.Model("model", q.Call(s.View()))
	return err
}

func TestResultsOfCaseOverrideCassette(t *testing.T) {
	l, c := onTape(t)
	c.Run.Tools = map[string][]testspec.ToolAnswer{"read": {{Result: "answered"}}}
	c.Checks = []testspec.Check{check("answered\nthat is all")}
	want(t, l.run(t, c), report.TestPassed)
}

func TestFaultsWorkOnACassette(t *testing.T) {
	l, c := onTape(t)
	c.Inject = []testspec.Inject{{Tool: "read", Call: 1, Error: testspec.Inject500}}
	c.Checks = []testspec.Check{check("injected: 500 Internal Server Error\nthat is all")}
	want(t, l.run(t, c), report.TestPassed)
}

func TestDamagedCassetteIsNamed(t *testing.T) {
	l, c := onTape(t)
	l.put(t, tapeFile, "edited")
	want(t, l.run(t, c), report.TestError, "error spec/tape.jsonl: the cassette spec/tape.jsonl cannot be used: line 1 was changed; pexctl test --record all records the case again")
}

// Replies to another question do not apply.
func TestCassetteWithOtherParametersIsRejected(t *testing.T) {
	l, c := onTape(t)
	c.Parameters = map[string]any{"question": "who?"}
	want(t, l.run(t, c), report.TestError, `replay spec/tape.jsonl: the cassette was recorded with different parameters: question was "why?" and is "who?"; pexctl test --record all`)
}

func TestMismatchNamesOtherProblemsOfCassette(t *testing.T) {
	l, c := onTape(t)
	hot := 1.0
	l.program.Models[0].Params.Temperature = &hot
	l.program.Name = "q"
	want(t, l.run(t, c), report.TestError, `at model; the cassette belongs to the spec "p"; pexctl test`)
	l.program.Name = "p"
	recs := l.tapes[l.get(t, tapeFile)]
	l.tapes[l.get(t, tapeFile)] = recs[:len(recs)-1]
	want(t, l.run(t, c), report.TestError, `at model; the cassette ends before its run does; pexctl test`)
}

func TestRecording(t *testing.T) {
	live := func(text string) speaker { return speaker{text: text} }
	for _, tt := range []struct {
		name string
		live model.Model
		run  testspec.CaseRun
		file string // of the case
		tape string // that is written; "" = none
		err  string
	}{
		{"to the path of the case", live("yes"), testspec.CaseRun{Cassette: "tapes/new.jsonl"}, "tests.yaml", "tapes/new.jsonl", ""},
		{"beside a case.yaml", live("yes"), testspec.CaseRun{}, "spec/case.yaml", "spec/cassette.jsonl", ""},
		{"nowhere", live("yes"), testspec.CaseRun{}, "tests.yaml", "", "the case has no path for its cassette: run: {cassette: tests/the-case/cassette.jsonl}"},
		{"nothing is left to record", live("yes"), testspec.CaseRun{Replies: "no"}, "tests.yaml", "", "the case has replies"},
		{"the run waits for an answer", live("ask"), testspec.CaseRun{Cassette: "t.jsonl"}, "tests.yaml", "", `run: {answers: {human: "..."}}`},
		{"who answers", live("ask"), testspec.CaseRun{Cassette: "t.jsonl", Answers: map[string]string{"*": "blue"}}, "tests.yaml", "t.jsonl", ""},
		{"the provider fails", speaker{err: &model.Error{Kind: model.AuthError, Message: "no key"}}, testspec.CaseRun{Cassette: "t.jsonl"}, "tests.yaml", "", "auth: no key"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := newLab(t)
			l.live, l.own = tt.live, nil
			r := tt.run
			if r.Cassette != "" {
				r.Cassette = l.path(r.Cassette)
			}
			c := testspec.Case{
				Name: "The case", Dir: l.unit.Dir, Parameters: map[string]any{"question": "why?"}, Run: &r,
				Position: testspec.Position{File: tt.file},
			}
			_, err := testcase.Record(t.Context(), &l.bench, &l.unit, &c)
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Fatalf("error %v", err)
				}
				if _, err := os.Stat(l.path("t.jsonl")); err == nil {
					t.Error("a cassette was left")
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if c.Run.Cassette != l.path(tt.tape) {
				t.Errorf("the case names %s", c.Run.Cassette)
			}
			want(t, l.run(t, testspec.Case{Run: &testspec.CaseRun{Cassette: l.path(tt.tape)}}), report.TestPassed)
			left, err := os.ReadDir(l.path(tt.tape + "/.."))
			for _, e := range left {
				if strings.HasSuffix(e.Name(), ".new") {
					t.Errorf("left behind: %s, %v", e.Name(), err)
				}
			}
		})
	}
}

// A failed recording does not replace the cassette.
func TestFailedRecordingKeepsOldCassette(t *testing.T) {
	l, c := onTape(t)
	before := l.get(t, tapeFile)
	l.live = speaker{err: &model.Error{Kind: model.NetworkError, Message: "down"}}
	c.Name, c.Dir, c.Parameters = "c", l.unit.Dir, map[string]any{"question": "?"}
	if _, err := testcase.Record(t.Context(), &l.bench, &l.unit, &c); err == nil {
		t.Fatal("no error")
	}
	if d := cmp.Diff(before, l.get(t, tapeFile)); d != "" {
		t.Error(d)
	}
}
