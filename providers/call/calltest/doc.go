// Package calltest is what each provider over HTTP is held to beneath its
// protocol.
//
//	DeadConnections  servers may close kept connections when they like
//	Benchmark        what a call costs over its bare round trip
//
// A provider says how a reply of its server looks. Tests alone import it.
package calltest
