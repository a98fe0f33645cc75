// Package tracecontext carries traces into and out of runs as W3C Trace Context does: in the
// headers traceparent and tracestate of HTTP, and their counterparts in environments and MCP.
//
//	in:  header traceparent, variable TRACEPARENT -> ParseCaller -> engine.Input -> the trace of the run
//	out: NewRun -> Run.Call, Below (a context per call) -> Inject, Outgoing -> the callee
//
// The ids of a run's spans follow from its id and the paths of its effects, so a call carries
// the id of a span that is exported later, by whichever session sees its end.
//
// The package must not know who exports spans.
package tracecontext
