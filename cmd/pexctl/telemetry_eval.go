package main

import (
	"os"
	"path/filepath"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/tracecontext"
	"github.com/pexctl/pex/eval/trial"
	"github.com/pexctl/pex/internal/app/homedir"
	"github.com/pexctl/pex/providers/otel"
)

// evaluate returns what exports an evaluation, or nil.
func (t *telemetry) evaluate(e trial.Evaluation) trial.Tracer {
	t.open.Do(func() { t.connect(nil) })
	out := t.otel.Evaluate(otel.EvaluationOptions{
		ID: e.ID, Suite: e.Suite, Started: e.Started, Resumed: e.Resumed,
		Caller: tracecontext.ParseCaller(os.Getenv(tracecontext.Variable), os.Getenv(tracecontext.StateVariable)),
		Marks:  otel.FileMarks{Dir: filepath.Join(e.Dir, homedir.TelemetryFolder)},
	})
	if out == nil {
		return nil
	}
	return evaluationTracer{out}
}

// evaluationTracer exports an evaluation by OpenTelemetry.
type evaluationTracer struct{ out *otel.Evaluation }

var _ trial.Tracer = evaluationTracer{}

// Sinks implements trial.Tracer.
func (t evaluationTracer) Sinks(of trial.Key, p *engine.Program, in *engine.Input) []engine.Sink {
	return t.out.Sinks(otel.Trial{Case: of.Case, Variant: of.Variant, Repeat: of.Repeat}, p, in)
}

// Graded implements trial.Tracer.
func (t evaluationTracer) Graded(row *trial.Row) {
	g := otel.Grade{Verdict: string(row.Outcome), Score: row.Score}
	if row.Fault != nil {
		g.Error = string(row.Fault.Kind)
	}
	for i := range row.Marks {
		m := &row.Marks[i]
		g.Results = append(g.Results, otel.Result{Check: m.Check, Score: m.Score, Passed: m.Pass, Failed: m.Error != ""})
	}
	t.out.Grade(row.Run.ID, g)
}

// Ended implements trial.Tracer.
func (t evaluationTracer) Ended(o trial.Tally) {
	t.out.End(otel.Tally{Verdict: o.Verdict, Trials: o.Trials, Passed: o.Passed, Failed: o.Failed, Errors: o.Errors})
}
