package catalog

import (
	"encoding/json"

	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/dsl/schema"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/memory"
	"github.com/pexctl/pex/engine/secret"
	"github.com/pexctl/pex/eval/trial"
)

// Catalog has all components that specs can use.
type Catalog struct {
	engine.Catalog
	Checks trial.Checks // check types of tests and suites
	// Memory returns the store of conversations at a place. It opens nothing.
	Memory func(MemoryPlace) memory.Store
	// Repair converts malformed tool arguments from a model to valid JSON.
	Repair func(engine.MalformedArguments) (args json.RawMessage, repairs []string, err error)
	// Sinks returns sinks that receive the events of each session of a run; nil = none.
	Sinks func(home string, p *engine.Program, in *engine.Input) []engine.Sink
	// Evaluate returns what exports an evaluation; it, and its result, may be nil.
	Evaluate func(trial.Evaluation) trial.Tracer
	// Schemas keeps the compiled input schemas of tools; nil = each host compiles its own.
	Schemas *schema.Cache
	// Hidden keeps the secrets of programs; nil = each host finds those of its program.
	Hidden *secret.Cache
}

// MemoryPlace is where the conversations of a tenant are stored: in a folder or, if Variable is
// not empty, in a database.
type MemoryPlace struct {
	Dir      string
	Variable string // the environment variable that has Address
	Address  string
	Tenant   string
}

// Options returns the compiler options that apply to all specs: the available components.
func (c *Catalog) Options() dsl.Options {
	return dsl.Options{Catalog: c.Catalog, Checks: c.Checks.Blueprints("check")}
}
