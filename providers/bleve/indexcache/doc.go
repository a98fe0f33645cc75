// Package indexcache stores indexes in cache folders, so that later processes can reuse them.
//
//	New(folder, analyzer) --Acquire--> Lease {Index} --Release--> closed, or removed if broken
//
//	Acquire: waits for other users in this process, which share one open index;
//	         locks a file against other processes;
//	         opens the index, or replaces a broken one;
//	         uses one in memory if another process has it or it cannot be stored
//
// The lock is held during a call and waited for up to a second. Whatever processes do
// concurrently, the worst case is that something is indexed again.
//
// The package must not know what is indexed, or how it is searched.
package indexcache
