// Package tracecontext identifies the trace of a caller, as HTTP requests and environments
// carry it: traceparent of W3C Trace Context.
//
//	header traceparent, variable TRACEPARENT -> Parse -> engine.Input.Trace -> the trace of the run
package tracecontext
