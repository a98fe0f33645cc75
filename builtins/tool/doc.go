// Package tool implements the tools that ship with pexctl and need no library.
//
//	All --> a Factory per tool: Config (what an author writes) + tool.Settings --> tool.Tool
//	Call: arguments --validated--> the work, limited in bytes and time --> text or JSON
//
// Each tool has a file with its name. Larger parts have their own packages: grep
// (searches streams by line), page (HTML to text), table (rows and exact sums),
// opensearch (three tools for a cluster). Error messages tell the model how to fix the
// call.
//
// The package must not depend on specs, plans or models. Retries, approvals, timeouts and
// the truncation of long output are the engine's.
package tool
