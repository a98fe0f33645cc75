// Package answer checks an answer against the spec's output.
//
//	text or JSON --repair, schema--> value --ensures--> Answer, or what is wrong
//
// What is wrong is written for the model that is asked again.
//
// The package must not know any node.
package answer
