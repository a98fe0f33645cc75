// Package oidc verifies tokens (JWT) of an OpenID Connect issuer for package auth.
//
//	Verifier.Verify(token) -> discovery, at the first token -> keySet -> claims
//	           both fetch through throttle: HTTPS, limits, one request at a time, recent results
//
// A Verifier can be created while the issuer is down. Keys that it has stay in use when the
// issuer goes down later.
//
// The package must not know which claims matter, or what clients may do.
package oidc
