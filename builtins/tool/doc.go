// Package tool is the tools that come with pexctl and need no library.
//
//	All --> a Factory a tool: Config (what an author writes) + ToolSettings --> tool.Tool
//	Call: arguments --checked again--> the work, bounded in bytes and time --> text or JSON
//
// Each tool stands in the file of its name; what is more than a page of code
// has a folder of its own: grep (lines in streams), page (HTML to text), table
// (rows and exact sums), opensearch (three tools of one cluster). Failures are
// sentences that tell a model the way out.
//
// It must not know specs, plans, models, or how the engine calls it: retries,
// approvals, timeouts and the cut of long output are the engine's.
package tool
