package otel

import (
	"context"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/pexctl/pex/engine/tracecontext"
)

// traceOf returns the trace of a run.
func traceOf(run, caller string) trace.TraceID { return tracecontext.TraceOf(run, caller) }

// spanOf returns the id of a span of a run.
func spanOf(run, kind, path string, n int) trace.SpanID {
	return tracecontext.SpanOf(run, kind, path, n)
}

// ids gives spans the ids that their context has.
type ids struct{}

type idsKey struct{}

// identity is the trace and id of a span that is about to start.
type identity struct {
	trace trace.TraceID
	span  trace.SpanID
}

var _ sdktrace.IDGenerator = ids{}

func withIdentity(ctx context.Context, id identity) context.Context {
	return context.WithValue(ctx, idsKey{}, id)
}

// NewIDs implements sdktrace.IDGenerator.
func (ids) NewIDs(ctx context.Context) (trace.TraceID, trace.SpanID) {
	id, _ := ctx.Value(idsKey{}).(identity)
	return id.trace, id.span
}

// NewSpanID implements sdktrace.IDGenerator.
func (ids) NewSpanID(ctx context.Context, _ trace.TraceID) trace.SpanID {
	id, _ := ctx.Value(idsKey{}).(identity)
	return id.span
}
