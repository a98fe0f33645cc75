package otel

import (
	"context"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/tracecontext"
)

// evaluationSpan is the kind of the span of an evaluation. Its id follows from that of the
// evaluation.
const evaluationSpan kind = "evaluation"

// Evaluation exports the trials of an evaluation, each as a trace of its own with a link to the
// span of the evaluation. A nil *Evaluation exports nothing. It is safe for concurrent use.
type Evaluation struct {
	t     *Telemetry
	o     EvaluationOptions
	isDue bool // its span was not exported yet

	mu     sync.Mutex
	trials map[string]*runTracer // runs without a grade, by id
}

// EvaluationOptions describe an evaluation.
type EvaluationOptions struct {
	ID, Suite string
	Started   time.Time
	Resumed   bool
	Caller    tracecontext.Caller // of the command
	Marks     Marks               // of the evaluation and the runs of its trials
}

// Trial identifies a trial within its evaluation.
type Trial struct {
	Case, Variant string
	Repeat        int
}

// Grade is how a trial ended.
type Grade struct {
	Verdict string // passed, failed or error
	Score   float64
	Error   string // kind of the error; "" = none
	Results []Result
}

// Result is the result of a check.
type Result struct {
	Check  string
	Score  float64
	Passed bool
	Failed bool // the check itself failed, and has no score
}

// Tally is how an evaluation ended.
type Tally struct {
	Verdict                        string
	Trials, Passed, Failed, Errors int
}

// Evaluate begins to export an evaluation; nil if traces are not exported.
func (t *Telemetry) Evaluate(o EvaluationOptions) *Evaluation {
	if t == nil || t.traces == nil {
		return nil
	}
	e := &Evaluation{t: t, o: o, trials: map[string]*runTracer{}}
	if _, found := o.Marks.Load(o.ID); found || !o.Resumed {
		e.isDue = true
		if _, marked := t.watch(o.ID, o.Marks); !marked {
			t.begin(o.ID, Mark{})
		}
	}
	return e
}

func (e *Evaluation) trace() trace.TraceID { return traceOf(e.o.ID, "") }

func (e *Evaluation) span() trace.SpanID { return spanOf(e.o.ID, string(evaluationSpan), "", 0) }

// isSampled reports whether something of the evaluation is exported, by its trace.
func (t *Telemetry) isSampled(id trace.TraceID, name string) bool {
	return t.sampler.ShouldSample(sdktrace.SamplingParameters{
		ParentContext: context.Background(), TraceID: id, Name: name, Kind: trace.SpanKindInternal,
	}).Decision == sdktrace.RecordAndSample
}

// Sinks returns the sinks of a run of a trial. Its own span is exported by Grade, which the
// caller must call once the run has ended.
func (e *Evaluation) Sinks(of Trial, p *engine.Program, in *engine.Input) []engine.Sink {
	if e == nil {
		return nil
	}
	r := newRunTracer(e.t, p, in)
	if !r.isSampled() {
		return []engine.Sink{unsampled{}}
	}
	r.mark, r.isMarked = e.t.watch(in.RunID, e.o.Marks)
	r.encoder = e.t.newEncoder(p)
	r.trial = &trialOf{e, of}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.trials[in.RunID] = r
	return []engine.Sink{r}
}

// trialOf is the trial of a run.
type trialOf struct {
	evaluation *Evaluation
	trial      Trial
}

// describe sets what identifies the trial in the span of its run.
func (o *trialOf) describe(s *span) {
	e := o.evaluation
	s.set(evalID.String(e.o.ID), evalCase.String(o.trial.Case), evalRepeat.Int(o.trial.Repeat))
	if o.trial.Variant != "" {
		s.set(evalVariant.String(o.trial.Variant))
	}
	s.links = append(s.links, trace.Link{SpanContext: trace.NewSpanContext(trace.SpanContextConfig{
		TraceID: e.trace(), SpanID: e.span(), TraceFlags: trace.FlagsSampled, Remote: true,
	})})
}

// Grade exports the span of a trial's run. Nothing happens if this process did not execute it.
func (e *Evaluation) Grade(run string, g Grade) {
	if e == nil {
		return
	}
	e.mu.Lock()
	r := e.trials[run]
	delete(e.trials, run)
	e.mu.Unlock()
	if r == nil || r.run == nil {
		return
	}
	s, at := r.run, r.run.last
	s.set(evalVerdict.String(g.Verdict), evalScore.Float64(g.Score))
	if g.Error != "" && s.failure == "" {
		s.fail(g.Error)
	}
	for _, c := range g.Results {
		attrs := []attribute.KeyValue{evaluationName.String(c.Check)}
		if c.Failed {
			attrs = append(attrs, errorType.String("grader"))
		} else {
			attrs = append(attrs, scoreValue.Float64(c.Score), scoreLabel.String(label(c.Passed)))
		}
		s.events = append(s.events, spanEvent{"gen_ai.evaluation.result", at, attrs})
	}
	r.finish(at)
}

func label(passed bool) string {
	if passed {
		return "pass"
	}
	return "fail"
}

// End exports the span of the evaluation, once: an earlier session may have.
func (e *Evaluation) End(o Tally) {
	if e == nil || !e.isDue {
		return
	}
	name := "invoke_workflow " + e.o.Suite
	if !e.t.isSampled(e.trace(), name) {
		e.o.Marks.Remove(e.o.ID)
		return
	}
	e.t.ending(e.o.ID, Mark{Seq: 1}, true)
	attrs := []attribute.KeyValue{
		operationName.String("invoke_workflow"), workflowName.String(e.o.Suite), evalID.String(e.o.ID), evalVerdict.String(o.Verdict),
		evalTrials.Int(o.Trials), evalPassed.Int(o.Passed), evalFailed.Int(o.Failed), evalErrors.Int(o.Errors),
	}
	var links []trace.Link
	if c, ok := tracecontext.Parse(e.o.Caller.Parent); ok {
		links = []trace.Link{{SpanContext: trace.NewSpanContext(trace.SpanContextConfig{
			TraceID: c.Trace, SpanID: c.Span, TraceFlags: trace.TraceFlags(0).WithSampled(c.Sampled), Remote: true,
		})}}
	}
	ctx := withIdentity(context.Background(), identity{e.trace(), e.span()})
	_, out := e.t.tracer.Start(ctx, name, trace.WithTimestamp(e.o.Started), trace.WithAttributes(attrs...), trace.WithLinks(links...))
	if o.Verdict == "failed" {
		out.SetStatus(codes.Error, "")
	}
	out.End(trace.WithTimestamp(e.t.now()))
}
