package tracecontext

import "context"

// Run is the trace of a run, for the calls that leave the process. A nil *Run has none.
type Run struct {
	id      string // "" = the run is not exported, and passes on the trace of its caller
	trace   [16]byte
	sampled bool
	caller  Caller
}

// NewRun returns the trace of a run whose spans are exported, if sampled.
func NewRun(id string, caller Caller, sampled bool) *Run {
	return &Run{id: id, trace: TraceOf(id, caller.Parent), sampled: sampled, caller: caller}
}

// PassOn returns the trace of a run that is not exported: its calls carry the trace of its
// caller unchanged. It is nil if there is no caller.
func PassOn(caller Caller) *Run {
	if caller.Parent == "" {
		return nil
	}
	return &Run{caller: caller}
}

// Call returns a context for a call: what it sends carries the span of a kind for the effect
// at a path.
func (r *Run) Call(ctx context.Context, kind, path string) context.Context {
	if r == nil {
		return ctx
	}
	return context.WithValue(ctx, outgoingKey{}, &outgoing{r, kind, path})
}

type outgoingKey struct{}

// outgoing is the span that a call carries.
type outgoing struct {
	run        *Run
	kind, path string
}

// Below returns a context for a call that has a span of a kind of its own, below that of the
// effect in which it is made.
func Below(ctx context.Context, kind string) context.Context {
	if o, ok := ctx.Value(outgoingKey{}).(*outgoing); ok {
		return o.run.Call(ctx, kind, o.path)
	}
	return ctx
}

// Outgoing returns the trace that a call has to carry. It is well-formed, or zero: then the call
// carries none.
func Outgoing(ctx context.Context) Caller {
	o, ok := ctx.Value(outgoingKey{}).(*outgoing)
	switch {
	case !ok:
		return Caller{}
	case o.run.id == "":
		return o.run.caller
	}
	p := Parent{Trace: o.run.trace, Span: SpanOf(o.run.id, o.kind, o.path, 0), Sampled: o.run.sampled}
	return Caller{Parent: p.String(), State: o.run.caller.State}
}

// Inject adds the trace that a call has to carry to the headers of its request. It does not
// replace one that the author of a spec set.
func Inject(ctx context.Context, h map[string][]string) {
	if c := Outgoing(ctx); c.Parent != "" && len(h[headerKey]) == 0 {
		c.SetHeader(h)
	}
}
