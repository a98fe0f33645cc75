// Package problem defines the errors that clients of the server receive: RFC 9457 problem
// details, with a stable code for programs.
//
//	problem.New(problem.NotFound, "no run %s", id) -> Write -> application/problem+json
//
// The package must not know any route, and never sees errors whose text is not for clients.
package problem
