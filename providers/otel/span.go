package otel

import (
	"context"
	"slices"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/tracecontext"
)

// kind is what a span is about. It is part of the span's id.
type kind string

// The kinds.
const (
	runSpan     kind = tracecontext.RunKind
	sessionSpan kind = "session"
	agentSpan   kind = "agent" // a nested agent
	planSpan    kind = "plan"  // a turn of the planner or reflector
	stepSpan    kind = "step"
	modelSpan   kind = tracecontext.ModelKind
	toolSpan    kind = tracecontext.ToolKind
	askSpan     kind = "ask"
	mcpSpan     kind = tracecontext.MCPKind
	vectorSpan  kind = tracecontext.EmbeddingsKind
)

// contains reports whether spans of the kind have children.
func (k kind) contains() bool {
	return k != modelSpan && k != askSpan && k != sessionSpan && k != mcpSpan && k != vectorSpan
}

// span is a span that has not ended. It exists before the SDK's, which is created when the
// span ends, since an earlier session may have seen the start.
type span struct {
	kind     kind
	path     string
	agent    string // path of the nested agent in which it happens
	id       trace.SpanID
	parent   trace.SpanID // zero = none
	name     string
	role     trace.SpanKind
	start    time.Time
	last     time.Time // of the last event within it
	attrs    []attribute.KeyValue
	events   []spanEvent
	links    []trace.Link
	failure  string // error.type; "" = none
	hasEnded bool   // of a model call: it has an event of its end
	content  content
	calls    int // of a plan: model calls, but for fallbacks and repeated ones
}

type spanEvent struct {
	name  string
	at    time.Time
	attrs []attribute.KeyValue
}

func (s *span) set(attrs ...attribute.KeyValue) { s.attrs = append(s.attrs, attrs...) }

func (s *span) fail(code string) {
	s.failure = code
	s.set(errorType.String(code))
}

// covers reports whether the span's path is that of an effect, or of a scope around it.
func (s *span) covers(path string) bool {
	rest, found := strings.CutPrefix(path, s.path)
	return found && (s.path == "" || rest == "" || rest[0] == '/' || rest[0] == '.')
}

// begin adds a span below the innermost one around it.
func (r *runTracer) begin(k kind, ev *engine.Event, path, name string) *span {
	n := 0
	if ev.Step != nil && k == stepSpan {
		n = ev.Step.Attempts
	}
	s := &span{kind: k, path: path, agent: ev.Agent, id: spanOf(r.input.RunID, string(k), path, n), name: name, role: trace.SpanKindInternal, start: r.timeOf(ev), last: r.timeOf(ev)}
	if around := r.around(path); around != nil {
		s.parent = around.id
	}
	r.open = append(r.open, s)
	return s
}

// around returns the innermost span that contains a path, or nil.
func (r *runTracer) around(path string) *span {
	var found *span
	for _, s := range r.open {
		if s.kind.contains() && s.covers(path) && (found == nil || len(s.path) >= len(found.path)) {
			found = s
		}
	}
	return found
}

// find returns an open span, or nil.
func (r *runTracer) find(k kind, path string) *span {
	for _, s := range r.open {
		if s.kind == k && s.path == path {
			return s
		}
	}
	return nil
}

// end ends a span, and those within it.
func (r *runTracer) end(s *span, at time.Time) {
	for i, o := range slices.Backward(r.open) {
		if o != s && o.kind != sessionSpan && within(o, s) {
			r.export(o, o.last)
			r.open = slices.Delete(r.open, i, i+1)
		}
	}
	r.export(s, at)
	r.open = slices.DeleteFunc(r.open, func(o *span) bool { return o == s })
}

// within reports whether a span is inside another one that contains spans.
func within(inner, outer *span) bool {
	return outer.kind.contains() && outer.covers(inner.path) && (len(inner.path) > len(outer.path) || inner.kind == askSpan || outer.kind == toolSpan)
}

// isDue reports whether no earlier session exported what the event at hand ends.
func (r *runTracer) isDue() bool {
	if r.isMarked {
		return r.mark.before(r.current)
	}
	return r.isLive
}

// export creates the SDK's span, unless an earlier session did.
func (r *runTracer) export(s *span, at time.Time) {
	if !r.isDue() && s.kind != sessionSpan {
		return
	}
	if s.kind == planSpan && s.calls > 1 {
		s.set(repairCount.Int(s.calls - 1))
	}
	if s.kind == modelSpan && !s.hasEnded {
		s.fail("cancelled")
	}
	s.set(runID.String(r.input.RunID), eventSeq.Int(r.current.Seq))
	if r.current.Rewinds > 0 {
		s.set(eventRewinds.Int(r.current.Rewinds))
	}
	if r.encoder != nil {
		s.set(r.encoder.attributes(&s.content)...)
	}
	ctx := withIdentity(context.Background(), identity{r.trace, s.id})
	if s.parent.IsValid() {
		ctx = trace.ContextWithRemoteSpanContext(ctx, trace.NewSpanContext(trace.SpanContextConfig{
			TraceID: r.trace, SpanID: s.parent, TraceFlags: trace.FlagsSampled, TraceState: r.caller.TraceState(),
		}))
	}
	_, out := r.t.tracer.Start(ctx, s.name, trace.WithTimestamp(s.start), trace.WithSpanKind(s.role), trace.WithAttributes(s.attrs...), trace.WithLinks(s.links...))
	for _, e := range s.events {
		out.AddEvent(e.name, trace.WithTimestamp(e.at), trace.WithAttributes(e.attrs...))
	}
	if s.failure != "" {
		out.SetStatus(codes.Error, "") // a message may have content
	}
	out.End(trace.WithTimestamp(at))
}
