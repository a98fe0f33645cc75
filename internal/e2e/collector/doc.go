// Command collector is the OpenTelemetry Collector with what the end-to-end tests need of it: it
// receives OTLP, and prints what it receives.
//
//	pexctl --OTLP over HTTP--> receiver otlp -> exporter debug -> stdout
//
// It is a module of its own, so that the collector is no dependency of pex. internal/e2e/setup.sh
// builds it.
package main
