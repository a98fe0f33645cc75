// Package shelf keeps indexes in folders of ours, so that the next process need
// not make them again.
//
//	At(folder, mapping) --Take--> Loan {Index} --Return--> closed, or broken and removed
//
//	Take: a line for those of this process, who share one open index
//	      a lock on a file against other processes
//	      Open | removed and made anew, when it is broken
//	      in memory, when another process has it, or it cannot be kept
//
// The lock is held as long as a call lasts, and is waited for a second: whatever
// processes do at once, the worst is that something is indexed again.
//
// It must not know what is indexed, or how it is searched.
package shelf
