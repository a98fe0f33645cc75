package logs

import (
	"context"
	"encoding/hex"
	"log/slog"
	"sync"

	"github.com/pexctl/pex/engine/tracecontext"
)

// request is what lines about a request say. The handlers of the request add to it.
type request struct {
	mu     sync.Mutex
	id     string
	caller string // its traceparent; "" = none
	tenant string
	run    Run // the run that it started; zero = none
}

type requestKey struct{}

// WithRequest returns the context of a request with an id.
func WithRequest(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, requestKey{}, &request{id: id})
}

func requestOf(ctx context.Context) *request {
	r, _ := ctx.Value(requestKey{}).(*request)
	return r
}

// Called adds the traceparent of a client to later lines about its request.
func Called(ctx context.Context, caller string) {
	requestOf(ctx).set(func(r *request) { r.caller = caller })
}

// Authenticated adds the tenant of the client to later lines about a request.
func Authenticated(ctx context.Context, tenant string) {
	requestOf(ctx).set(func(r *request) { r.tenant = tenant })
}

// Started adds the run that a request started or continued to later lines about the request.
func Started(ctx context.Context, run Run) {
	requestOf(ctx).set(func(r *request) { r.run = run })
}

func (r *request) set(change func(*request)) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	change(r)
}

// attributes returns what is known: the trace and span are those of the run, or else of the client.
func (r *request) attributes() (out []slog.Attr) {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	add := func(key, value string) {
		if value != "" {
			out = append(out, slog.String(key, value))
		}
	}
	add("request_id", r.id)
	if r.run.ID != "" {
		return append(out, r.run.attributes(tracecontext.RunKind, "")...)
	}
	add("tenant", r.tenant)
	if parent, ok := tracecontext.Parse(r.caller); ok {
		add("trace_id", hex.EncodeToString(parent.Trace[:]))
		add("span_id", hex.EncodeToString(parent.Span[:]))
	}
	return out
}

// spanAttributes returns the ids of a span of a run, which are those of its exported trace.
func spanAttributes(run, caller, kind, path string) []slog.Attr {
	trace, span := tracecontext.TraceOf(run, caller), tracecontext.SpanOf(run, kind, path, 0)
	return []slog.Attr{slog.String("trace_id", hex.EncodeToString(trace[:])), slog.String("span_id", hex.EncodeToString(span[:]))}
}
