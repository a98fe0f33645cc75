package catalog

import (
	"encoding/json"

	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/memory"
	"github.com/pexctl/pex/eval/trial"
)

// Catalog is every component that a program can be made of.
type Catalog struct {
	engine.Catalog
	Checks trial.Checks // the kinds of assertions of tests and suites
	// Memory names the store of conversations in a folder; it opens nothing yet.
	Memory func(dir, tenant string) memory.Store
	// Repair makes valid JSON of the arguments that a model wrote for a tool.
	Repair func(engine.MalformedArguments) (args json.RawMessage, repairs []string, err error)
}

// Options returns the options of compiling that hold for every spec: the
// components that it can name.
func (c *Catalog) Options() dsl.Options {
	return dsl.Options{Catalog: c.Catalog, Checks: c.Checks.Blueprints("check")}
}
