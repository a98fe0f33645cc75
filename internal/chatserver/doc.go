// Package chatserver is a server that speaks OpenAI's protocol, for tests and
// benchmarks that need one of known delay on the other side of a socket.
package chatserver
