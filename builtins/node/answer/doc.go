// Package answer checks an answer against the spec's output.
//
//	text or JSON --repair, schema--> value --ensures--> Answer, or what is wrong
//
// Error texts are written for the model that must fix its reply.
//
// The package must not depend on any node.
package answer
