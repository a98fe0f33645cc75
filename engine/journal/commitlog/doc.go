// Package commitlog makes what many goroutines append to many files durable with few
// syncs: a write-ahead log per process.
//
//	Open -> Log.Add(frame) -> Group.Wait: one write and one sync for all frames that wait
//	a segment is full, Close -> checkpoint: the files themselves are synced, the segment is reused
//	the owner dies -> Recover: the frames are applied to the files, and the log is removed
//
// The owner also writes the same bytes to the files, so that other processes see them. It
// does not sync the files: after a power loss, any part of them may be missing, and the log
// has all of it.
//
// A log consists of two segments, which take turns. A segment is a sequence of blocks,
// each of them written with one sync. A process that executes Recover never changes the log
// of an owner that is alive.
//
// The package knows nothing of what the files contain.
package commitlog
