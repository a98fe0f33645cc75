// Package draft builds specs of agents that are loops of a model and its tools.
//
//	source --converter--> Spec {llms, tools, agents} --File--> spec.yaml
//
// Such an agent does not plan. Its spec has a graph with one executor node, or one
// finalizer node if it has no tools: it makes the model calls that the source
// makes, and no other.
//
// The package must not know any source format.
package draft
