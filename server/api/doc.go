// Package api is the HTTP API of the server: the resources below /v1, and their OpenAPI
// document.
//
//	request -> checkBody -> huma: route, parameters, schema -> operation -> manager, runs, agents -> JSON or feed
//
// Each operation is declared once, with its types, so the OpenAPI document describes what
// the code does. Errors are problems (package problem): nothing else about an error
// reaches the client.
//
// The package must not know how runs execute, how clients authenticate, or any flag.
package api
