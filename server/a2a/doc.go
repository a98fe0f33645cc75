// Package a2a serves agents to other agents that use A2A, the Agent2Agent Protocol: its
// versions 1.0 and 0.3, over JSON-RPC and HTTP with JSON.
//
//	request -> transport of the library -> tasks (a2asrv.RequestHandler)
//	   -> access.Client, turn.Follow -> task, status and artifact updates
//
// A context is a conversation, a task is a run. There is no store of tasks: each is read from
// the journal of its run. The package must not fold events of runs itself.
package a2a
