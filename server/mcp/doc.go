// Package mcp is what clients of the Model Context Protocol may do with the agents and runs
// of the server.
//
//	providers/mcp/serve -> Backend -> access.Client, turn.Follow
//	HTTP request -> Limit -> a strict body, a stream of the server -> providers/mcp/serve
//
// The package must not know the messages of the protocol, except the form of errors.
package mcp
