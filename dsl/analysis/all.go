package analysis

import "github.com/pexctl/pex/dsl"

// All are the analyzers of pexctl vet, in the order of their names.
func All() []dsl.Analyzer {
	return []dsl.Analyzer{AgentCalls, Dotted, Guards, History, NoEffect, Shadowed, StrictSchema, Ungranted, Unmentioned, UntypedSchema, Unused}
}
