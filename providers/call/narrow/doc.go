// Package narrow writes a JSON Schema in the part of the language that Claude's
// structured outputs know, at Anthropic and at Bedrock alike.
//
//	schema --Schema--> it with every object closed and without what only bounds a value
//	              \--> faults: what cannot be said in that part, each with the way out
//
// It must not know a provider, nor how a schema stands in a request.
package narrow
