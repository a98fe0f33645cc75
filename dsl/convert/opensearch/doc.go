// Package opensearch converts an OpenSearch agent to a spec.
//
//	register body, template --> agent, connectors, the executor's agent
//	connector               --> an entry of llms
//	tools, memory, prompts  --> tools, memory and prompts of the spec
//
// The package must not know Aurite, nor how files are written.
package opensearch
