package testcase_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/dsl/testspec"
	"github.com/pexctl/pex/engine/enginetest"
	"github.com/pexctl/pex/engine/memory"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/eval/coverage"
	"github.com/pexctl/pex/eval/report"
	"github.com/pexctl/pex/eval/testcase"
)

// problemsOf formats the problems of an outcome, one per line.
func problemsOf(out *testcase.Outcome) string {
	var b strings.Builder
	for _, p := range out.Problems {
		fmt.Fprintf(&b, "%s %s: %s\n", p.Kind, p.Where, p.Message)
	}
	return b.String()
}

// want compares an outcome with a status and parts of its problems, in order.
func want(t *testing.T, out *testcase.Outcome, status report.TestStatus, problems ...string) {
	t.Helper()
	ok := out.Status == status && len(out.Problems) == len(problems)
	for i := 0; ok && i < len(problems); i++ {
		ok = strings.Contains(fmt.Sprintf("%s %s: %s", out.Problems[i].Kind, out.Problems[i].Where, out.Problems[i].Message), problems[i])
	}
	if !ok {
		t.Errorf("%s:\n%swant %s: %q", out.Status, problemsOf(out), status, problems)
	}
}

func TestCaseReportsAllProblems(t *testing.T) {
	script := func(text string) *testspec.CaseRun { return &testspec.CaseRun{Replies: text} }
	not := func(c testspec.Check) testspec.Check { c.Negate = true; return c }
	watched := func(c testspec.Check) testspec.Check { c.Weight = 0; return c }
	for _, tt := range []struct {
		name     string
		c        testspec.Case
		status   report.TestStatus
		problems []string
	}{
		{"nothing", testspec.Case{Run: script("yes")}, report.TestPassed, nil},
		{"a check that passes", testspec.Case{Run: script("yes"), Checks: []testspec.Check{check("yes")}}, report.TestPassed, nil},
		{"checks see prompts", testspec.Case{Run: script("yes"), Checks: []testspec.Check{check("You plan.\nwhy?")}}, report.TestPassed, nil},
		{"each check that fails", testspec.Case{Run: script("yes"), Checks: []testspec.Check{check("no"), check("yes"), check("maybe")}}, report.TestFailed, []string{"check says no: the text is missing", "check says maybe"}},
		{"what must not be", testspec.Case{Run: script("yes"), Checks: []testspec.Check{not(check("yes")), not(check("no"))}}, report.TestFailed, []string{"the check passes, but it is negated"}},
		{"what is only watched", testspec.Case{Run: script("yes"), Checks: []testspec.Check{watched(check("no"))}}, report.TestPassed, nil},
		{"a check that breaks", testspec.Case{Run: script("yes"), Checks: []testspec.Check{check("break"), check("no")}}, report.TestError, []string{"error says break: permission denied", "check says no"}},
		{"no such check", testspec.Case{Run: script("yes"), Checks: []testspec.Check{{Type: "sings", Weight: 1}}}, report.TestError, []string{"unknown check type sings"}},
		{"a trajectory", testspec.Case{Run: script("yes"), Checks: []testspec.Check{{Type: "trajectory", Weight: 1}}}, report.TestError, []string{"unknown check type trajectory"}},
		{"checks without a run", testspec.Case{Checks: []testspec.Check{check("yes")}}, report.TestError, []string{"add run: {}"}},
		{"a node that there is not", testspec.Case{Render: []string{"plannr", "planner"}}, report.TestError, []string{"plannr: the nodes with prompts are planner and planner_with_history"}},
		{"an invalid state", testspec.Case{Given: []byte(`{"steps": 1}`), Run: script("yes")}, report.TestError, []string{"error given: the given state"}},
		{"parameters that do not fit", testspec.Case{Parameters: map[string]any{"x": 1}, Run: script("yes")}, report.TestError, []string{`unknown parameter "x"`}},
		{"a question without an answer", testspec.Case{Run: script("ask")}, report.TestFailed, []string{`the run waits for an answer: human at ask.0 (well?); add an answer to the case, by kind or path: run: {answers: {human: "..."}}`}},
		{"which a check may want", testspec.Case{Run: script("ask"), Checks: []testspec.Check{check("why?")}}, report.TestPassed, nil},
		{"a fault that never comes", testspec.Case{Run: script("yes"), Inject: []testspec.Inject{{Tool: "read", Call: 2, Error: testspec.Inject429}}}, report.TestFailed, []string{"unused inject: the run made no such call: call 2 of tool read, to fail with 429"}},
		{"a fault that ends it", testspec.Case{Run: script("yes"), Inject: []testspec.Inject{{Role: "planner", Error: testspec.Inject500}}}, report.TestFailed, []string{"the run ended failed: provider_error"}},
		{"as a check wants", testspec.Case{Run: script("yes"), Inject: []testspec.Inject{{Role: "planner", Error: testspec.Inject500}}, Checks: []testspec.Check{check("why?")}}, report.TestPassed, nil},
		{"a fault that cannot be", testspec.Case{Run: script("yes"), Inject: []testspec.Inject{{Tool: "x", Error: testspec.InjectRefusal}}}, report.TestError, []string{"a tool cannot fail with refusal"}},
		{"the end of the run before other problems", testspec.Case{Run: script("ask"), Checks: []testspec.Check{check("no")}}, report.TestFailed, []string{"the run waits for an answer", "check says no"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			want(t, newLab(t).run(t, tt.c), tt.status, tt.problems...)
		})
	}
}

func TestReplySources(t *testing.T) {
	script := func(text string) *testspec.CaseRun { return &testspec.CaseRun{Replies: text} }
	for _, tt := range []struct {
		name  string
		given string
		run   *testspec.CaseRun
		says  string
	}{
		{"the spec's own llm", ``, &testspec.CaseRun{}, "done"},
		{"the case's replies", ``, script("yes"), "yes"},
		{"real tools", ``, script(`call read {"path":"data.txt"}`), "before"},
		{"a fixed clock", ``, script(`call read {"path":"now"}`), "15:04:05"},
		{"at the case's time", `{"now":"2026-03-04T10:20:30Z"}`, script(`call read {"path":"now"}`), "10:20:30"},
		{"answers by kind", ``, &testspec.CaseRun{Replies: "ask", Answers: map[string]string{"human": "blue", "*": "red"}}, "blue"},
		{"answers by path", ``, &testspec.CaseRun{Replies: "ask", Answers: map[string]string{"human": "blue", "ask.0": "green"}}, "green"},
		{"any other answer", ``, &testspec.CaseRun{Replies: "ask", Answers: map[string]string{"plan": "blue", "*": "red"}}, "red"},
		{
			"tools that are not called, in turn", ``,
			&testspec.CaseRun{
				Replies: "call write {}\ncall write {}\ncall write {}",
				Tools:   map[string][]testspec.ToolAnswer{"write": {{Result: "one"}, {Result: map[string]any{"n": 2}}}},
			}, "one\n{\"n\":2}\n{\"n\":2}",
		},
		{
			"tools that fail", ``,
			&testspec.CaseRun{Replies: "call read {}\ncall read {}", Tools: map[string][]testspec.ToolAnswer{"read": {{Error: "gone"}, {Result: "back"}}}}, "gone\nback",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := newLab(t)
			out := l.run(t, testspec.Case{Given: []byte(tt.given), Run: tt.run, Checks: []testspec.Check{check("\x00")}})
			if len(out.Problems) == 0 || !strings.HasPrefix(out.Problems[0].Actual, tt.says+"You plan.") {
				t.Errorf("%s%+v", problemsOf(out), out.Problems)
			}
		})
	}
}

func TestMissingModelIsOneProblem(t *testing.T) {
	inline := testspec.Case{Name: "finds it", Run: &testspec.CaseRun{}, Golden: "", Checks: []testspec.Check{check("a"), check("b")}}
	l := newLab(t)
	l.own = nil
	out := l.run(t, inline)
	want(t, out, report.TestFailed, "the run calls llm main (some), but the case has no cassette and no replies; set its path, run: {cassette: tests/finds-it/cassette.jsonl}: pexctl test --record missing")
	if !out.MissingCassette {
		t.Error("MissingCassette is not set")
	}
	inline.Run = &testspec.CaseRun{Cassette: l.path("spec/none.jsonl")}
	out = l.run(t, inline)
	want(t, out, report.TestFailed, "missing spec/none.jsonl: there is no cassette spec/none.jsonl yet; pexctl test --record missing")

	l.own = speaker{err: &model.Error{Kind: model.NoReply, Message: "the script has no reply left"}}
	inline.Run = &testspec.CaseRun{}
	want(t, l.run(t, inline), report.TestError, "error run: node planner: llm main: no_reply: the script has no reply left")
}

func TestStoppedRunIsError(t *testing.T) {
	l := newLab(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("stopped by hand"))
	c := testspec.Case{Name: "c", Dir: l.unit.Dir, Parameters: map[string]any{"question": "?"}, Run: &testspec.CaseRun{Replies: "yes"}}
	want(t, testcase.Run(ctx, &l.bench, &l.unit, &c), report.TestError, "the run was stopped: stopped by hand")
}

func TestRunRecordsCoverage(t *testing.T) {
	l := newLab(t)
	l.unit.Cover = coverage.New("spec", l.program, nil)
	l.run(t, testspec.Case{Run: &testspec.CaseRun{Replies: "yes"}})
	if hit, _ := l.unit.Cover.Report().Of(coverage.Stops); hit != 1 {
		t.Errorf("%+v", l.unit.Cover.Report())
	}
}

func TestMemoryConformance(t *testing.T) {
	enginetest.MemorySuite(t, func(*testing.T) memory.Store { return testcase.NewMemory() })
}

func TestProblemsNameTheirLines(t *testing.T) {
	out := newLab(t).run(t, testspec.Case{Run: &testspec.CaseRun{Replies: "yes"}, Checks: []testspec.Check{check("no")}})
	got := out.Problems[0]
	got.Message = ""
	wanted := report.Problem{Kind: report.ProblemCheck, Where: "says no", File: "tests.yaml", Line: 9, Expected: "no", Actual: "yesYou plan.\nwhy?"}
	if d := cmp.Diff(wanted, got); d != "" {
		t.Error(d)
	}
}
