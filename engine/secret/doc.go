// Package secret finds secrets in texts: known values, and texts that look like keys.
//
//	New(name -> value) -> Values: Text, Segments, JSON, Stream replace them by [redacted NAME]
//	Known(text)                  : a key of a well-known service, anywhere in the text
//	InLiteral(text, its key)     : for what an author writes: any generated key
//	InRecord(text, its key)      : for what a run recorded: only certain keys
//
// The package must not know where texts come from or what they are used for, and never
// reveals what it found.
package secret
