// Package oteltest is a collector for tests: it receives spans and metrics by OTLP over HTTP,
// and shows them as text.
package oteltest
