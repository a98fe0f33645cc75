// Package apiclient calls the HTTP API of a server (pexctl serve): start, watch, answer,
// resume, cancel and read runs.
//
//	New(Settings) -> Client -> /v1/... -> results and events, or an *Error
//
// A watched run is watched over as many connections as it takes. The package must not know
// flags or terminals, nor how the server works.
package apiclient
