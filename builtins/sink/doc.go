// Package sink shows the events of a run to people and programs.
//
//	engine.Event --> JSONL: one line per event, for programs
//	             \-> Lines: one line per step and tool call, for logs and CI
//	             \-> Tree: plan, steps and tools redrawn in place, for a terminal
//
// A Report shows the result of a run.
//
// Lines and Tree render a board, the state that is folded from events. The package
// does not know where the output goes and does not query the machine: the writer
// and the width of the terminal are passed in.
package sink
