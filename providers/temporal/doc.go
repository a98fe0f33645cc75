// Package temporal executes runs on Temporal: a run is a workflow, and its effects are activities.
//
//	Driver.Start --> workflow pex.Run: runtime.Run in a world of workflow code
//	                    | runtime.Work                     ^ kernel.Outcome
//	                    v                                  |
//	                 activity pex.Do on a Worker: runtime.Site performs the work
//	Driver.Decide, Message, Cancel (updates), Journal (query), Wait (result)
//
// The history of the workflow is the durable truth: replaying it makes the journal again, byte for
// byte. The kernel decides what is repeated, so every activity has one attempt.
//
// The package must not know how programs are compiled and hosts are made: Env does.
package temporal
