// Package e2e starts the servers for end-to-end tests.
//
//	setup.sh --once--> ~/.cache/pex-e2e {ollama, aimock}
//	Ollama(t, gguf)          --> base URL of an inference server with the model "tiny"
//	Aimock(t, fixtures, ...) --> base URL of a mock of the vendors' APIs
//
//	WebhookReceiver(t, secret) --> URL of a receiver with the library of Standard Webhooks
//
//	OTelCollector(t) --> URL of the OpenTelemetry Collector, and what it receives
//	Prometheus(t, target, rules) --> URL of a Prometheus that scrapes a server
//
//	Requests() --> requests that use everything, to check what providers make of them
//
// Servers listen on loopback and stop with their test. The tests have the build tag e2e
// and are run by make e2e. The module in vendorsdk compares requests with those of the
// vendors' SDKs, the module in peers the speed of runs with that of other libraries; the module
// in collector is the OpenTelemetry Collector.
//
// The package must not know what the servers are asked.
package e2e
