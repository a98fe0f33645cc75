// Package schemasubset reduces a JSON Schema to the subset supported by Claude's structured
// outputs, at Anthropic and Bedrock.
//
//	schema --Schema--> the schema with closed objects and without constraints
//	              \--> faults: what the subset cannot express, with fixes
//
// The package must not know providers, nor how requests contain schemas.
package schemasubset
