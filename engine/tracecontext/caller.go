package tracecontext

import (
	"context"
	"strings"
)

// Caller is the trace of who started a run, as its request had it.
type Caller struct {
	Parent string // traceparent; "" = none
	State  string // tracestate; "" = none
}

// ParseCaller returns the caller of a traceparent and a tracestate. It is zero if the
// traceparent is invalid; an invalid tracestate is dropped.
func ParseCaller(traceparent, tracestate string) Caller {
	p, ok := Parse(traceparent)
	if !ok {
		return Caller{}
	}
	return Caller{Parent: p.String(), State: ParseState(tracestate)}
}

// Keys of the headers in the canonical form of HTTP requests.
const (
	headerKey = "Traceparent"
	stateKey  = "Tracestate"
)

// FromHeader returns the caller of a request with these headers, or a zero one.
func FromHeader(h map[string][]string) Caller {
	if len(h[headerKey]) != 1 {
		return Caller{}
	}
	return ParseCaller(h[headerKey][0], strings.Join(h[stateKey], ","))
}

// SetHeader sets the headers of a request to the caller; a zero one changes nothing.
func (c Caller) SetHeader(h map[string][]string) {
	if c.Parent == "" {
		return
	}
	h[headerKey] = []string{c.Parent}
	delete(h, stateKey)
	if c.State != "" {
		h[stateKey] = []string{c.State}
	}
}

type callerKey struct{}

// With returns a context with the caller of a request, in place of an earlier one.
func With(ctx context.Context, c Caller) context.Context {
	return context.WithValue(ctx, callerKey{}, c)
}

// From returns the caller of With, or a zero one.
func From(ctx context.Context) Caller {
	c, _ := ctx.Value(callerKey{}).(Caller)
	return c
}
