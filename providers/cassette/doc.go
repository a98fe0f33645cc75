// Package cassette keeps recorded runs in files that may be shared: a journal,
// line for line, without secrets; and lets such a file answer for a model.
//
//	New(journal, path, secrets) -> Recorder: a journal that records beside another
//	Save, Export                -> the cassette of a run that was
//	Load, Decode                -> its records, verified
//	Reseal                      -> the same after someone edited it by hand
//	Cassette                    -> the provider: a model whose replies are those of a cassette
//
// A record becomes a line in three steps. Secrets known by value are replaced
// by [redacted NAME]; a model request is decoded for that, so that a value which
// stands in two of its segments is found, and encoded anew. Digests of what
// changed are made anew, so that a run which is answered by the cassette asks for
// the same. Then anything that still looks like a key refuses the whole
// cassette: no file is left, or the one that was there stays.
//
// The provider finds a reply by what is asked for, wherever in a run that is; a
// replay, which is the engine's, finds it by the place in the run. In replies it puts
// folders, regions and the like, which are surely no secrets, back for their
// marks, as this machine has them: tools are to be called with them.
//
// The package knows journals and requests. It must not know where secrets come
// from, what else answers a run, or commands.
package cassette
