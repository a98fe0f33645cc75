package otel

import (
	"cmp"
	"context"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/plan"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/engine/tracecontext"
)

// runTracer folds the events of one run into spans. Events of earlier sessions tell which
// spans are open; spans that end in them were exported.
type runTracer struct {
	t       *Telemetry
	program *engine.Program
	input   *engine.Input
	trace   trace.TraceID
	caller  trace.SpanContext // of the client's request; invalid = none

	open     []*span // outer spans before those within them
	run      *span
	session  *span
	mark     Mark // of what earlier sessions exported
	isMarked bool // mark is known; else they exported all they saw
	current  Mark // the event at hand
	isLive   bool // an event of this session has arrived
	replayed int
	steps    int
	replans  int
	lag      time.Duration // between the time of events and this session's clock

	decided   map[string]*engine.DecisionRecord // by path of the question
	approvals map[string]*engine.DecisionRecord // by path of the tool call

	encoder      *encoder          // of content; nil = none is exported
	descriptions map[string]string // of tools, by agent and name
	trial        *trialOf          // nil = the run is not a trial of an evaluation
}

var (
	_ engine.Sink       = (*runTracer)(nil)
	_ engine.ReplaySink = (*runTracer)(nil)
)

func newRunTracer(t *Telemetry, p *engine.Program, in *engine.Input) *runTracer {
	r := &runTracer{t: t, program: p, input: in, trace: traceOf(in.RunID, in.Trace)}
	if parent, ok := tracecontext.Parse(in.Trace); ok {
		state, err := trace.ParseTraceState(in.TraceState)
		if err != nil {
			state = trace.TraceState{}
		}
		r.caller = trace.NewSpanContext(trace.SpanContextConfig{
			TraceID: parent.Trace, SpanID: parent.Span, TraceFlags: trace.TraceFlags(0).WithSampled(parent.Sampled), TraceState: state, Remote: true,
		})
	}
	return r
}

// isSampled reports whether the run is exported. Each session decides alike.
func (r *runTracer) isSampled() bool {
	return r.t.sampler.ShouldSample(sdktrace.SamplingParameters{
		ParentContext: trace.ContextWithRemoteSpanContext(context.Background(), r.caller), TraceID: r.trace, Name: "invoke_agent " + r.program.Name, Kind: trace.SpanKindInternal,
	}).Decision == sdktrace.RecordAndSample
}

// Replay implements engine.ReplaySink.
func (r *runTracer) Replay(ev engine.Event) {
	r.replayed++
	r.apply(&ev)
}

// Send implements engine.Sink.
func (r *runTracer) Send(ev engine.Event) {
	if ev.Seq == 0 {
		if ev.Type == engine.RunSuspended && r.isLive {
			r.t.ending(r.input.RunID, r.current, false)
			r.endSession(r.t.now(), endOf(ev.Stop))
		}
		return
	}
	if !r.isLive {
		r.isLive = true
		if !r.isMarked {
			r.t.begin(r.input.RunID, r.current)
		}
		if r.replayed > 0 {
			r.lag = max(0, r.t.now().Sub(ev.At))
		}
		defer r.beginSession(&ev) // its parent is the run's span
	}
	r.apply(&ev)
}

// timeOf returns when an event happened.
func (r *runTracer) timeOf(ev *engine.Event) time.Time { return ev.At.Add(r.lag) }

func (r *runTracer) apply(ev *engine.Event) {
	r.current = Mark{ev.Rewinds, ev.Seq}
	r.decide(ev)
	r.leave(ev)
	if r.encoder != nil {
		r.captureEnd(ev)
		defer r.captureStart(ev)
	}
	switch ev.Type {
	case engine.RunStarted:
		r.beginRun(ev)
	case engine.PlanCreated:
		r.planned(ev)
	case engine.StepStartedEvent:
		s := r.begin(stepSpan, ev, ev.Path, "pex.step "+ev.Step.ID)
		s.set(stepID.String(ev.Step.ID), stepAttempt.Int(ev.Step.Attempts))
	case engine.StepCompleted:
		r.endStep(ev)
	case engine.ModelStarted:
		r.beginModel(ev)
	case engine.ModelCompleted:
		r.endModel(ev)
	case engine.ToolStarted:
		r.beginTool(ev)
	case engine.ToolCompleted:
		r.endTool(ev)
	case engine.InterruptRaised:
		r.beginAsk(ev)
	case engine.GuardFired:
		r.note(ev, "pex.guard", guardName.String(ev.Guard.Name), guardAction.String(string(ev.Guard.Do)))
	case engine.LimitReached:
		r.note(ev, "pex.limit", stopCode.String(string(ev.Stop.Code)), stopPath.String(ev.Stop.Path))
	case engine.Warning:
		r.note(ev, "pex.warning")
	case engine.MessageReceivedEvent:
		r.note(ev, "pex.message")
	case engine.RunCompleted:
		r.endRun(ev)
	case engine.ToolInterrupted, engine.ReflectCompleted, engine.ModelDelta, engine.ModelRetrying, engine.ToolProgress, engine.ToolRetrying, engine.RunSuspended:
		// part of what other events say, or transient
	}
	for _, s := range r.open {
		if s.covers(ev.Path) {
			s.last = r.timeOf(ev)
		}
	}
}

// leave ends the spans that have no event of their end, and enters nested agents.
func (r *runTracer) leave(ev *engine.Event) {
	for _, s := range append([]*span(nil), r.open...) {
		switch {
		case s.kind == planSpan && s.agent == ev.Agent && !s.covers(ev.Path):
			r.end(s, s.last)
		case s.kind == askSpan && ev.Path != s.path && strings.HasPrefix(s.path, ev.Path) && ev.Type != engine.Warning:
			r.endAsk(s, ev) // the call or plan in question continues
		}
	}
	if ev.Agent != "" && r.find(agentSpan, ev.Agent) == nil {
		s := r.begin(agentSpan, ev, ev.Agent, "invoke_agent "+ev.Program.Name)
		s.agent = enclosing(ev.Agent, r.open)
		s.set(operationName.String("invoke_agent"), nestedAgent.Bool(true))
		s.set(r.describe(ev.Program)...)
	}
}

// enclosing returns the path of the agent around a nested one.
func enclosing(agent string, open []*span) (found string) {
	for _, s := range open {
		if s.kind == agentSpan && s.path != agent && s.covers(agent) && len(s.path) > len(found) {
			found = s.path
		}
	}
	return found
}

// describe returns the attributes of an agent.
func (r *runTracer) describe(p *engine.Program) []attribute.KeyValue {
	out := []attribute.KeyValue{agentName.String(p.Name), specDigest.String(p.Digest)}
	if r.t.names.agentID {
		out = append(out, agentID.String(p.Name))
	}
	if p.Version != "" {
		out = append(out, agentVersion.String(p.Version))
	}
	if p.Description != "" {
		out = append(out, agentAbout.String(p.Description))
	}
	provider := ""
	for i := range p.Models {
		name := providerOf(p.Models[i].Provider)
		if provider != "" && provider != name {
			provider = "pex"
			break
		}
		provider = name
	}
	return append(out, providerName.String(cmp.Or(provider, "pex")), systemName.String(cmp.Or(provider, "pex")))
}

func (r *runTracer) beginRun(ev *engine.Event) {
	s := r.begin(runSpan, ev, "", "invoke_agent "+r.program.Name)
	s.parent = r.caller.SpanID()
	s.set(operationName.String("invoke_agent"))
	s.set(r.describe(r.program)...)
	if id := r.input.MemoryID; id != "" {
		s.set(conversationID.String(id), sessionID.String(id))
	}
	output := "text"
	if r.program.Output != nil {
		output = "json"
	}
	s.set(outputType.String(output))
	if o := r.input.Origin; o != nil && o.Tenant != "" {
		s.set(tenantName.String(o.Tenant))
	}
	if r.trial != nil {
		r.trial.describe(s)
	}
	if from := r.input.From; from != nil && from.Run != "" {
		s.links = []trace.Link{{SpanContext: trace.NewSpanContext(trace.SpanContextConfig{
			TraceID: traceOf(from.Run, from.Trace), SpanID: spanOf(from.Run, string(runSpan), "", 0), TraceFlags: trace.FlagsSampled, Remote: true,
		})}}
	}
	r.run = s
}

// endOf returns how a session ended that leaves its run unfinished: parked if only people can
// continue it.
func endOf(why *stop.Reason) string {
	if why != nil && (why.Code == stop.Interrupted || why.Code == stop.NeedsReview) {
		return "parked"
	}
	return "suspended"
}

// beginSession starts the span of what this process does of the run.
func (r *runTracer) beginSession(ev *engine.Event) {
	if r.run == nil { // it ended with its first event
		return
	}
	r.session = &span{
		kind: sessionSpan, id: spanOf(r.input.RunID, string(sessionSpan), "", r.replayed), parent: r.run.id,
		name: "pex.session", role: trace.SpanKindInternal, start: r.timeOf(ev),
	}
	r.session.set(replayedCount.Int(r.replayed))
}

func (r *runTracer) endSession(at time.Time, how string) {
	if r.session == nil {
		return
	}
	r.session.set(sessionEnd.String(how))
	r.export(r.session, at)
	r.session = nil
}

func (r *runTracer) planned(ev *engine.Event) {
	if ev.Agent == "" && ev.Plan.Version > 1 {
		r.replans++
	}
	if s := r.find(planSpan, ev.Path); s != nil {
		s.set(planVersion.Int(ev.Plan.Version), planSteps.Int(len(ev.Plan.Steps)))
	}
}

func (r *runTracer) endStep(ev *engine.Event) {
	if ev.Agent == "" {
		r.steps++
	}
	s := r.find(stepSpan, ev.Path)
	if s == nil { // it was skipped
		s = r.begin(stepSpan, ev, ev.Path, "pex.step "+ev.Step.ID)
		s.set(stepID.String(ev.Step.ID), stepAttempt.Int(ev.Step.Attempts))
	}
	s.set(stepStatus.String(string(ev.Step.Status)))
	s.set(r.usage(ev)...)
	s.set(milliseconds(latencySum, ev.Latency)...)
	s.set(milliseconds(slowestFirst, ev.FirstToken)...)
	if ev.Step.Status == plan.Failed {
		s.fail("step_" + string(ev.Step.Status))
	}
	r.end(s, r.timeOf(ev))
}

// note adds an event to the innermost span around it.
func (r *runTracer) note(ev *engine.Event, name string, attrs ...attribute.KeyValue) {
	if s := r.around(ev.Path); s != nil {
		s.events = append(s.events, spanEvent{name, r.timeOf(ev), attrs})
	}
}

func (r *runTracer) endRun(ev *engine.Event) {
	s := r.run
	if s == nil {
		return
	}
	if ev.Rewinds > 0 { // the span was exported when the run ended before its limits were raised
		s.parent, s.id = s.id, spanOf(r.input.RunID, string(runSpan), "", ev.Rewinds)
		s.name += " (continued)"
	}
	s.set(runStatus.String(ev.Status), stopCode.String(string(ev.Stop.Code)), stepCount.Int(r.steps), replanCount.Int(r.replans))
	if p := ev.Stop.Path; p != "" {
		s.set(stopPath.String(p))
	}
	if u := ev.Totals; u != nil {
		s.set(r.tokens(&u.Tokens)...)
		s.set(costUSD.Float64(u.CostUSD))
		s.set(milliseconds(latencySum, u.LatencyMS)...)
	}
	if ev.Status == string(stop.RunFailed) {
		s.fail(string(ev.Stop.Code))
	}
	if s.last = r.timeOf(ev); r.trial == nil { // else Grade does
		r.finish(s.last)
	}
}

// finish exports the span of a run that has ended.
func (r *runTracer) finish(at time.Time) {
	s := r.run
	r.run = nil
	r.t.ending(r.input.RunID, r.current, true)
	r.endSession(at, "ended")
	r.end(s, at)
}
