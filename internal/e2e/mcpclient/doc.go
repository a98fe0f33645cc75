// Command mcpclient is the client under test of the Model Context Protocol's conformance
// suite: providers/mcp and nothing more.
//
//	conformance client --command mcpclient --scenario X
//	   --> mcpclient URL, with MCP_CONFORMANCE_SCENARIO and MCP_CONFORMANCE_CONTEXT
//	   --> a toolset of that URL: List, the calls of the scenario or one of each tool, Close
//
// It must not implement the protocol itself.
package main
