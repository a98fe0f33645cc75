// Package otel exports what runs do by OpenTelemetry: a trace per run, and metrics.
//
//	runtime -> engine.Event -> runTracer (a sink: folds events into spans) -> SDK -> OTLP over HTTP
//	                       \-> runMeter (a sink: counts) -> instruments -> SDK -> OTLP, GET /metrics
//
// Events are derived from the journal, so spans are, too: the ids of a run's trace and spans
// follow from the id of the run and the paths of its effects. A resumed run continues its
// trace, and a span is exported by the session that sees its end. names.go has the names of
// two versions of OpenTelemetry's conventions for generative AI.
//
// The attributes of metrics have few values, however many agents, models and tools there are:
// see labels.go.
//
// The package must not slow a run: exporters work in the background and drop what does not
// fit their queue.
package otel
