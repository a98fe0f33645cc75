// Package journal defines the records of a run and stores them in files.
//
// Every effect of a run writes two records, an intent before it and a result after it, so
// that a run can be replayed. The line number of a record is its sequence number, and
// each line has a hash over all lines before it. Damage is therefore detected and
// reported, never skipped.
//
//	Home.Create/Open -> File (locked) -> Load: records of earlier sessions
//	                                  -> Append: a tick of records, with a Ticket for its durability
//	File.Close -> head in the index: how long the journal is, and a summary
//	Home.ShareSyncs -> the files of all sessions become durable by one commit log
//	OpenHome: applies the commit logs of processes that did not close them
//	Open, Read, List: verify the journal against its head
//	Check, Repair, Remove, Sweep, Snapshot, Adopt: maintenance of a home
//	OpenPool -> Pool.Run(id): the journals of many runs in one file, with the texts that they share
//	OpenLog -> Log: other lines in a file with the same guarantees
//	Segments: requests that refer to text of earlier ones
//
// The package knows nothing of plans, models or tools. Package kernel decides what a
// record means for a run.
package journal
