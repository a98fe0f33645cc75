// Package blob stores immutable contents by their SHA-256, for values that are too large for a message or a database row.
//
//	Open(address)   -> Store: file:///folder here; other schemes by an Opener that the caller passes
//	Store.Put       -> Ref {sha256, size}; storing the same content again changes nothing but its age
//	Store.Get(Ref)  -> the content, verified, or an *Error that says what is wrong
//	Sweeper.DeleteOlder removes what was not stored again since a time
//
// A Ref is all that a process needs to read a content, so it is as confidential as the content. The package does not know
// what the contents mean, and does not encrypt them.
package blob
