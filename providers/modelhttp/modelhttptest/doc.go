// Package modelhttptest has tests that all HTTP-based providers share, independent of their
// protocols, and helpers for fake servers.
//
//	DeadConnections       servers may close idle connections at any time
//	Benchmark             the cost of a call beyond its round trip
//	Serve(script, Speech) a server of a protocol, for enginetest.ModelSuite
//	Streams               broken, truncated and malicious streams are errors
//
// A provider defines its server's protocol and how replies look. Only tests import it.
package modelhttptest
