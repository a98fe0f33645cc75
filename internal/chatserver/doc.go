// Package chatserver is a server for OpenAI's protocol with a configurable delay, for
// tests and benchmarks over a socket.
package chatserver
