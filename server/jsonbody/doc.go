// Package jsonbody reads JSON request bodies that every parser understands in the same way.
//
//	http.Request -> Read -> bytes of one JSON value, or a problem with a JSON Pointer
//
// The package must not know what the body means.
package jsonbody
