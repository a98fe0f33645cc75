// Package cassette keeps recorded runs in files that may be shared: a journal,
// line for line, without secrets.
//
//	New(journal, path, secrets) -> Recorder: a journal that records beside another
//	Save, Export                -> the cassette of a run that was
//	Load, Decode                -> its records, verified
//	Reseal                      -> the same after someone edited it by hand
//
// A record becomes a line in three steps. Secrets known by value are replaced
// by [redacted NAME]; a model request is decoded for that, so that a value which
// stands in two of its segments is found, and encoded anew. Digests of what
// changed are made anew, so that a run which is answered by the cassette asks for
// the same. Then anything that still looks like a key refuses the whole
// cassette: no file is left, or the one that was there stays.
//
// The package knows journals and requests. It must not know where secrets come
// from, what answers a run, or commands.
package cassette
