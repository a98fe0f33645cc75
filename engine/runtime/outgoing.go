package runtime

import (
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/tracecontext"
)

// outgoingTrace returns the trace that the calls of a run carry.
func outgoingTrace(in *engine.Input, sinks []engine.Sink) *tracecontext.Run {
	caller := tracecontext.ParseCaller(in.Trace, in.TraceState)
	for _, s := range sinks {
		if t, ok := s.(engine.TraceSink); ok {
			return tracecontext.NewRun(in.RunID, caller, t.Sampled())
		}
	}
	return tracecontext.PassOn(caller)
}
