// Package render renders the state of a run as prompt text: the plan, its steps with
// their results, earlier turns, tools and files.
//
// Text written by models, tools or people is enclosed in fences that it cannot contain.
//
// The package must not depend on any node or template.
package render
