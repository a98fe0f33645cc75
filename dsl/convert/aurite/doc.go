// Package aurite converts the components of an Aurite project to specs.
//
//	read      components: llms, tool servers, agents, workflows, evaluations
//	name      a name for each that is valid in a spec, and unique
//	write     a spec for each agent and workflow, a suite for each evaluation
//	library   llms and servers that several of them include
//
// The package must not know OpenSearch, nor how files are written.
package aurite
