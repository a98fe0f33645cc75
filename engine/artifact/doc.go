// Package artifact stores files that clients upload for runs, by the SHA-256 of their
// content. A home has one store: artifacts/ab/abcdef... below it.
//
//	Store.Put: stream -> temporary file -> sync -> rename to its digest
//	engine.Input.Artifacts names the artifacts of a run; Sweep removes those of no run
//
// An artifact never changes, so runs share it. The package knows nothing of runs, clients
// and the names of files.
package artifact
