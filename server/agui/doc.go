// Package agui serves agents to front ends that use AG-UI, the Agent User Interaction
// Protocol.
//
//	POST /agui/{agent}, RunAgentInput -> a run, or answers to a run that waits
//	   -> turn.Follow -> view -> events of the protocol, as server-sent events
//
// A thread is a conversation. A run of the protocol is a part of a run: up to its end, or
// until it waits for answers. The package must not fold events of runs itself.
package agui
