// Package compact shortens what a role is about to send, by the rules of
// memory.compaction.
//
//	Conversation --truncate_tool_output, summarize, sliding_window--> shorter
//
// A rule applies when its condition holds on what the rules before it left.
// Pairs of question and answer are shortened, summarized or dropped, never split.
//
// The package must not know which role speaks, nor how its messages are made.
package compact
