// Package feed sends the events of one run to many watchers.
//
//	run --Send, Replay--> Feed --Watch--> Item --Write--> text/event-stream or JSON Lines
//
// A Feed encodes each event once, and its watchers share the encoded events. A watcher
// continues at a Cursor, which derives from the journal: it is valid in other processes
// and after a restart, so a client that reconnects receives every event once. Watchers
// never block the run.
//
// The package must not know where runs come from, who may watch them, or any route.
package feed
