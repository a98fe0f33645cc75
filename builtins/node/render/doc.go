// Package render writes the state of a run as text for prompts: the plan, its
// steps with their results, earlier turns, tools and files.
//
// What models, tools and people wrote is between fences that it cannot contain.
//
// The package must not know any node or template.
package render
