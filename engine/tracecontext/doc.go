// Package tracecontext identifies traces: that of a caller, as HTTP requests and environments
// carry it (traceparent of W3C Trace Context), and that of a run with its spans.
//
//	header traceparent, variable TRACEPARENT -> Parse -> engine.Input.Trace -> TraceOf, SpanOf
package tracecontext
