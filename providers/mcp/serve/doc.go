// Package serve is the other side of package mcp: it serves agents as tools of the Model
// Context Protocol.
//
//	tools/call AGENT -> Agents.Start -> the run ends: its answer is the result
//	                                    it asks:  an elicitation, whose answer continues the run
//	                                    it takes longer: the result names the run
//	tools/call run_get, run_answer, run_cancel; resource run://ID -> Runs
//
// Clients of protocol 2026-07-28 are served without sessions: a question is a result
// input_required, and the client calls again with the answers, even after a restart of the
// server. Older clients have a session, in which the server asks while the call is open. A
// client that cannot ask its user gets the question as the result of the call.
//
// The package must not know servers, tenants or roles: the context of a request identifies its
// client, and implementations of Agents and Runs check what the client may do.
package serve
