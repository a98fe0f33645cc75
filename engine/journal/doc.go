// Package journal holds the records of a run and keeps them in a file.
//
// A run is re-runnable because every touch of the world is two records here:
// an intent before it, a result after it. The line number of a record is its
// sequence number, and each line carries a hash of all lines before it, so
// damage is found and named, never read past.
//
//	Home.Create/Open -> File (locked) -> Load: records of earlier sessions
//	                                  -> Append: a tick of records, a Ticket for its durability
//	File.Close -> head (run.json): how far the journal went, and a summary
//	Open, Read, List: the journal held against its head; damage is named, never hidden
//	Check, Repair, Remove, Sweep, Snapshot, Adopt: care of the home
//	OpenPool -> Pool.Run(id): the journals of many runs in one file
//	OpenLog -> Log: lines of another kind in a file of the same care
//	Segments: requests that share text with earlier ones, as references
//
// The package knows nothing of plans, models or tools, and does not decide what
// a record means for a run: package kernel does.
package journal
