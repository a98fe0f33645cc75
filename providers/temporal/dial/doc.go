// Package dial connects to a Temporal server.
//
//	environment TEMPORAL_*, temporal.toml -> Settings -> Dial -> Connection, or an *Error with a way out
//	                                                       \-> Logger: the log of the SDK, without content
//
// The settings are those of Temporal's own programs, so that what works with `temporal workflow list`
// works with pexctl. Dial asks the server for the namespace, so that all mistakes of the settings
// appear before a worker polls or a run starts. No error contains a key.
//
// The package must not know what the connection is used for.
package dial
