// Package calltest is what each provider over HTTP is held to beneath its
// protocol, and what fakes of servers do alike.
//
//	DeadConnections       servers may close kept connections when they like
//	Benchmark             what a call costs over its bare round trip
//	Serve(script, Speech) a server that speaks a protocol, for enginetest.ModelSuite
//	Streams               broken, cut and hostile streams are no answers
//
// A provider says how its server speaks and how a reply looks. Tests alone import it.
package calltest
