// Package mcp is the client of tool servers that speak the Model Context
// Protocol: the tool type mcp.
//
//	Config --MCP.Build--> server (an tool.Toolset; opens nothing)
//	   List, Call --link--> session: a child's pipes, or HTTP, started when first needed
//	   session --sdk--> the server;  what it asks meanwhile --> the call that it belongs to
//	   link    --> after a crash the next call starts the server again, with growing pauses
//	   member.Call --> the definition is the one that the run began with? then tools/call --> ToolOutput
//
// Servers of protocol 2024-11-05 (also over HTTP with SSE) to 2026-07-28 answer;
// which version is spoken is agreed on at the start. A session is shared by all
// calls of a host. What a server claims of itself is passed on as a claim; its
// texts are data. A server's message that is longer than max_message_bytes ends
// the connection before it is held in memory, and lines on a child's standard
// output that are no message are passed over.
//
// It must not know journals, plans or models: sampling and questions to people
// go through tool.Call.
package mcp
