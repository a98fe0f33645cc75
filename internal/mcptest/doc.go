// Package mcptest has misbehaving tool servers: each violates the Model Context Protocol
// or a time limit of its client in one way.
//
//	TestMain --Main-->      the test binary, started again with ModeEnv, is the server on stdio
//	HTTP(t, mode)       --> the URL of an HTTP server, and the requests it received
//	ProcessesWith(mark) --> the processes still running
//
// The servers write their messages by hand, so that they can violate any rule. A mode is
// an entry of Modes or WebModes with a one-sentence description; in everything else the
// server behaves correctly.
//
// The package must not know the client.
package mcptest
