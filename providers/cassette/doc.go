// Package cassette stores recorded runs in files that can be shared: journals without
// secrets. It also implements a provider that answers from such a file.
//
//	New(journal, path, secrets) -> Recorder: a journal that also records
//	Save, Export                -> the cassette of an existing run
//	Load, Decode                -> its records, verified
//	Reseal                      -> a cassette edited by hand, with a new hash chain
//	Cassette                    -> the provider: a model that replies from a cassette
//
// A record becomes a line in three steps. Known secrets are replaced by [redacted NAME];
// model requests are decoded for that, so that a value split across two segments is
// found. Digests of changed records are recomputed, so that a run answered by the
// cassette matches. Finally, anything that still looks like a key rejects the whole
// cassette: no file is written, and an existing one is not changed.
//
// The provider finds a reply by the request, wherever in a run it occurs; the engine's
// replay finds it by effect path. In replies the provider replaces marks of folders,
// regions and other non-secret values by this machine's values, because tools are called
// with them.
//
// The package knows journals and requests. It must not know where secrets come from, what
// else answers a run, or commands.
package cassette
