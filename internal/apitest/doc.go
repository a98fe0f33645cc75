// Package apitest tests the HTTP API of the server with real specs and scripted models.
//
//	testdata/*.txtar: specs and requests -> api.New -> responses, compared with the golden file
//
// It contains only tests, because package api must not know the components of specs.
package apitest
