// Package auth authenticates the clients of the server and decides what they may do.
//
//	request -> Guard.Middleware -> Identity in its context -> Can(identity, action, roles of the agent)
//
// With tokens or an issuer, each request needs a bearer token: one of a token file, or a
// JWT that a Verifier accepts (package oidc has one). Without both, every client is
// anonymous and may do everything, so the server must listen on a loopback address only,
// and the Guard rejects requests that a web page of another site caused.
//
// The package must not know any route, run or agent.
package auth
