package project

import (
	"os"
	"path/filepath"

	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/internal/app/failure"
	"github.com/pexctl/pex/internal/app/host"
	"github.com/pexctl/pex/internal/app/version"
)

// OriginOf returns the place of a spec, for resuming the run.
func OriginOf(c *ui.Call, spec *dsl.Spec) (*engine.Origin, error) {
	o := &engine.Origin{
		Spec: spec.Path(), Dir: spec.Dir, Root: spec.Root, Set: c.Set, Environ: host.Overrides(os.Environ()), Tenant: c.Tenant, Version: version.String(),
		Prices: c.Prices().Used(),
	}
	for _, dir := range c.AllowPaths {
		abs, err := filepath.Abs(dir)
		if err != nil {
			return nil, failure.Usagef("--allow-path: %w", err)
		}
		o.Allow = append(o.Allow, abs)
	}
	return o, nil
}
