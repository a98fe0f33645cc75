package otel

import "github.com/pexctl/pex/engine"

var (
	_ engine.TraceSink = (*runTracer)(nil)
	_ engine.TraceSink = unsampled{}
)

// Sampled implements engine.TraceSink.
func (r *runTracer) Sampled() bool { return true }

// unsampled is the sink of a run that is not sampled: its callees receive the flag 00.
type unsampled struct{}

// Send implements engine.Sink.
func (unsampled) Send(engine.Event) {}

// Sampled implements engine.TraceSink.
func (unsampled) Sampled() bool { return false }
