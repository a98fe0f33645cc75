// Package oidctest is an OpenID Connect issuer for tests, on a loopback address.
//
//	New(t) *Issuer --discovery and keys over HTTP--> the code under test
//	Key.Sign(claims) --> a token
//
// The package must not know who verifies the tokens.
package oidctest
