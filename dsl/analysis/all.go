package analysis

import "github.com/pexctl/pex/dsl"

// All returns the analyzers of pexctl vet, sorted by name.
func All() []dsl.Analyzer {
	return []dsl.Analyzer{AgentCalls, Dotted, Guards, History, NoEffect, Shadowed, StrictSchema, Ungranted, Unmentioned, UntypedSchema, Unused}
}
