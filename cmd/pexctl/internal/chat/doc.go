// Package chat holds a conversation with an agent of a server. It has no terminal.
//
//	Input (a line, an interruption) -> Chat -> requests to the server
//	events of the run -> turn.Turn -> Screen (transcript and state), Options.Progress
//
// Each turn is a run of the conversation. A line is a slash command, the answer to an open
// question, a message to the run under way, or else the question of the next turn. The package
// draws nothing and must not know flags or terminals.
package chat
