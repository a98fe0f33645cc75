// Package blob stores immutable contents by their SHA-256, for values that are too large for a message or a database row.
//
//	Open(address)   -> Store: file:///folder here; other schemes by an Opener that the caller passes
//	Store.Put       -> Ref {sha256, size}; storing the same content again changes nothing but its age
//	Store.Get(Ref)  -> the content, verified, or an *Error that says what is wrong
//	Sweeper.DeleteOlder removes what was not stored again since a time
//
// Whoever has a Ref can read its content, so a Ref is as confidential as what it refers to. The package does not know
// what the contents mean, and does not encrypt them.
package blob
