// Package mcp implements the mcp tool type: a client for tool servers that speak the
// Model Context Protocol.
//
//	Config --MCP.Build--> server (a tool.Toolset; opens nothing)
//	   List, Call --connManager--> session: a child's pipes or HTTP, started on first use
//	   session --sdk--> the server; its requests --> the call they belong to
//	   connManager --> after a crash the next call restarts the server with backoff
//	   member.Call --> definition unchanged since the run started? then tools/call --> tool.Output
//
// It supports servers of protocol 2024-11-05 (also over HTTP with SSE) to 2026-07-28; the
// version is negotiated on connect. All calls of a host share a session. Hints of a
// server are treated as unverified claims, its texts as data. A message longer than
// max_message_bytes ends the connection before it is buffered, and lines on a child's
// standard output that are not messages are skipped.
//
// The package must not know journals, plans or models: sampling and questions to humans
// go through tool.Call.
package mcp
