// Package server serves a handler over HTTP: it limits, authenticates, logs and ends
// requests.
//
//	connection -> TLS -> request id, access log -> panics -> health -> body limit -> auth.Guard -> Options.Handler
//
// When its context ends, the server stops to accept connections, drains the runs, ends
// the event streams and waits for the other requests.
//
// The package must not know what its handler does.
package server
