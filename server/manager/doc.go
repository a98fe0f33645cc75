// Package manager executes the runs of one home for many clients. It starts, queues,
// resumes, answers and cancels runs, and lets clients watch their events. A run outlives
// its client, and since everything about it is in its journal, also the process:
//
//	Manager.Start -> journal (the start is durable) -> Slots -> runs.Session -> feed.Feed -> watchers
//	Manager.Answer -> inbox of a live run, or else runs.Service.Resume
//	Manager.Recover -> continues the runs that another process of the server left
//
// It knows no HTTP. Identities are engine.Actors; who may do what is decided by its
// callers.
package manager
