// Package compact shortens a role's next request by the rules of memory.compaction.
//
//	Conversation --truncate_tool_output, summarize, sliding_window--> shorter
//
// A rule applies if its condition holds after the rules before it. Pairs of question and
// answer are shortened, summarized or dropped, never split.
//
// The package must not depend on a role, nor on how its messages are made.
package compact
