// Package secret finds keys in texts: those that are known by value, and those
// that look like one.
//
//	New(name -> value) -> Values: Text, Segments, JSON, Stream put [redacted NAME] in their place
//	Known(text)                  : a key of a well-known service, wherever it stands
//	InLiteral(text, its key)     : for what an author writes: any generated key is found
//	InRecord(text, its key)      : for what a run recorded: only what is surely one
//
// The package must not know where texts come from or what becomes of them, and
// nothing in it ever shows what it found.
package secret
