// Package access is what one client may do with the agents and runs of its tenant. Every
// protocol of the server calls it, so that roles, overrides, quotas and conversations are
// checked in one place.
//
//	Server.Client(ctx) -> Client -> Agent, Prepare -> Prepared.Start -> manager
//	                             -> Answer, Message, Cancel, Watch, Read
//	Server.Problem(request, err) -> what the client learns about an error
//
// It must not know any route or wire format. Its errors are problems, or errors that
// Server.Problem turns into problems.
package access
