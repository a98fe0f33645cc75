// Package sink shows a run's events to those who watch.
//
//	engine.Event --> JSONL: one line an event, for machines
//	             \-> Lines: one line a step, for logs and CI
//	             \-> Tree: plan, steps and tools redrawn in place, for a terminal
//
// A Report says the same of a run's result, once.
//
// Lines and Tree draw from one Board, which folds events into what stands now.
// It must not know where the bytes go, nor ask the machine for anything: the
// width of the terminal and the writer are given.
package sink
