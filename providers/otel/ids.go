package otel

import (
	"context"
	"crypto/sha256"
	"encoding/binary"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/pexctl/pex/engine/tracecontext"
)

// traceOf returns the trace of a run: that of its caller's traceparent, or the first 16 bytes
// of SHA-256("trace", run).
func traceOf(run, caller string) (id trace.TraceID) {
	if parent, ok := tracecontext.Parse(caller); ok {
		return parent.Trace
	}
	copy(id[:], digest("trace", run))
	return id
}

// spanOf returns the id of a span of a run: the first 8 bytes of SHA-256("span", run, kind,
// path, n). n distinguishes what happens several times at one path, such as attempts.
func spanOf(run, kind, path string, n int) (id trace.SpanID) {
	var number [8]byte
	binary.BigEndian.PutUint64(number[:], uint64(n)) //nolint:gosec // only a distinct value matters
	copy(id[:], digest("span", run, kind, path, string(number[:])))
	return id
}

// digest returns the SHA-256 of texts, each after its length, so that no two lists are
// equal by accident.
func digest(texts ...string) []byte {
	h := sha256.New()
	var length [8]byte
	for _, s := range texts {
		binary.BigEndian.PutUint64(length[:], uint64(len(s)))
		h.Write(length[:])
		h.Write([]byte(s))
	}
	return h.Sum(nil)
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
