// Package call is what providers over HTTP do alike around each call of a model.
//
//	Caller.Reply, Do  attempts and the waits between them, until there is a reply
//	Refused, Bad      failures as the engine types them
//
// A provider tells how to make one attempt, and what its server's refusals mean.
// The package must not know any of them, nor their protocols.
package call
