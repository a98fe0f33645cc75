package testcase

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/pexctl/pex/dsl/testspec"
	"github.com/pexctl/pex/engine/interrupt"
	"github.com/pexctl/pex/engine/jsonvalue"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/runtime"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/eval/report"
	"github.com/pexctl/pex/eval/trial"
)

// check runs the checks of the case on the result.
func (t *try) check(ctx context.Context) {
	if t.c.Run == nil {
		if len(t.c.Checks) > 0 && t.world != nil {
			t.addError("checks", fmt.Errorf("checks need the result of a run, but this case has no run: add run: {}"))
		}
		return
	}
	if t.result == nil {
		return
	}
	s := t.subject()
	for i := range t.c.Checks {
		t.runCheck(ctx, &t.c.Checks[i], s)
	}
	t.unusedFaults()
	judged := len(t.c.Checks) > 0 || t.c.Golden != ""
	if wrong := len(t.out.Problems) > 0; t.result.Status != stop.RunCompleted && (wrong || !judged) {
		t.out.Problems = slices.Insert(t.out.Problems, 0, t.runProblem()) // first, because it may be the cause of the others
	}
}

func (t *try) subject() *trial.Subject {
	res := t.result
	s := &trial.Subject{
		Parameters: t.parameters, Result: res, Output: any(res.Response),
		Trace:   runtime.TraceOf(res, t.requests.prompts()),
		Latency: time.Duration(res.DurationMS) * time.Millisecond, Unpriced: trial.Unpriced(t.unit.Program, &res.Usage),
	}
	if len(res.Output) > 0 {
		s.Output = jsonvalue.Plain(res.Output)
	}
	return s
}

// runCheck runs one check and reports its failure. A check with weight 0 cannot fail.
func (t *try) runCheck(ctx context.Context, c *testspec.Check, s *trial.Subject) {
	p := report.Problem{Kind: report.ProblemCheck, Where: c.Name, File: c.Position.File, Line: c.Position.Line}
	mark, err := t.mark(ctx, c, s)
	switch {
	case err != nil:
		p.Kind, p.Message = report.ProblemError, err.Error()
	case mark.Pass != c.Negate || c.Weight == 0:
		return
	default:
		p.Message, p.Expected, p.Actual, p.Diff = mark.Message, mark.Expected, mark.Actual, mark.Diff
		if c.Type == "trajectory" {
			p.Kind = report.ProblemTrajectory
		}
		if c.Negate {
			p.Message = "the check passes, but it is negated"
		}
	}
	t.problem(p)
}

func (t *try) mark(ctx context.Context, c *testspec.Check, s *trial.Subject) (trial.Mark, error) {
	f, ok := t.bench.Checks.Find(c.Type)
	if !ok {
		return trial.Mark{}, fmt.Errorf("unknown check type %s", c.Type)
	}
	settings := t.bench.Settings
	settings.Name, settings.Dir, settings.Root = c.Name, t.c.Dir, t.unit.Root
	settings.Judge, settings.Embedder = noModel{}, noModel{}
	check, err := f.Build(c.Config, settings)
	if err != nil {
		return trial.Mark{}, err
	}
	if p, ok := check.(trial.Paired); ok && p.Against() != "" {
		return trial.Mark{}, fmt.Errorf("the check compares with variant %s: use it in a suite for pexctl eval", p.Against())
	}
	return check.Check(ctx, s)
}

// noModel is the judge and embedder of checks that need one: it returns an error.
type noModel struct{}

var (
	_ trial.Grader   = noModel{}
	_ model.Embedder = noModel{}
)

var errNoModel = errors.New("tests call no model: move this check to a suite, where pexctl eval has a judge and embeddings")

// Grade implements trial.Grader.
func (noModel) Grade(context.Context, trial.Question) (trial.Judgement, error) {
	return trial.Judgement{}, errNoModel
}

// Embed implements model.Embedder.
func (noModel) Embed(context.Context, []string) ([][]float64, model.Tokens, error) {
	return nil, model.Tokens{}, errNoModel
}

// unusedFaults reports injected faults that matched no call, because the case does not test what it claims.
func (t *try) unusedFaults() {
	if t.world.faults == nil {
		return
	}
	for _, in := range t.world.faults.Unmatched() {
		what := "the " + in.Role
		if in.Tool != "" {
			what = "tool " + in.Tool
		}
		nth := "any call"
		if in.Call > 0 {
			nth = fmt.Sprintf("call %d", in.Call)
		}
		t.problem(report.Problem{
			Kind: report.ProblemUnused, Where: "inject", File: in.Position.File, Line: in.Position.Line,
			Message: fmt.Sprintf("the run made no such call: %s of %s, to fail with %s", nth, what, in.Error),
		})
	}
}

// runProblem describes a run that did not complete; reported if no check judges it, or
// something else is wrong.
func (t *try) runProblem() report.Problem {
	p := report.Problem{Kind: report.ProblemCheck, Where: "run", File: t.c.Position.File, Line: t.c.Run.Position.Line}
	r := t.result.StopReason
	p.Message = fmt.Sprintf("the run ended %s: %s", t.result.Status, r.Code)
	if r.Message != "" {
		p.Message += ": " + r.Message
	}
	if t.result.Status == stop.RunInterrupted && len(t.result.Interrupts) > 0 {
		q := t.result.Interrupts[0]
		p.Message = unanswered(q)
		if err := q.Permit(t.answersBy(), "approve"); err != nil && len(t.c.Run.Answers) > 0 {
			p.Message = fmt.Sprintf("the answer is not permitted: %v; set who answers: run: {answers_by: {subject: NAME, roles: [ROLE]}}", err)
		}
	}
	return p
}

// unanswered describes a question without an answer in the case, and how to add one.
func unanswered(q interrupt.Question) string {
	about := q.Question
	if about == "" && q.Tool != "" {
		about = q.Tool + " " + string(q.Args)
	}
	if about != "" {
		about = " (" + clip(about) + ")"
	}
	answer := `"..."`
	if q.Kind != interrupt.Human && q.Kind != interrupt.User {
		answer = "approve"
	}
	return fmt.Sprintf("the run waits for an answer: %s at %s%s; add an answer to the case, by kind or path: run: {answers: {%s: %s}}", q.Kind, q.Path, about, q.Kind, answer)
}
