package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/internal/app/failure"
)

// originOf is where a spec was found, for whoever resumes the run.
func originOf(c *ui.Call, spec *dsl.Spec) (*engine.Origin, error) {
	o := &engine.Origin{
		Spec: spec.Path(), Dir: spec.Dir, Root: spec.Root, Set: c.StringSlice("set"), Environ: overrides(os.Environ()), Tenant: c.String("tenant"), Version: buildVersion(),
		Prices: c.Prices().Used(),
	}
	for _, dir := range c.StringSlice("allow-path") {
		abs, err := filepath.Abs(dir)
		if err != nil {
			return nil, failure.Usagef("--allow-path: %w", err)
		}
		o.Allow = append(o.Allow, abs)
	}
	return o, nil
}

// overrides are those of the environment that change a spec.
func overrides(environ []string) []string {
	return slices.DeleteFunc(environ, func(v string) bool { return !strings.HasPrefix(v, "PEX_SET_") })
}

// settingsOf is what a host needs for a program of that origin.
func settingsOf(o *engine.Origin, home string, parameters map[string]any) hostSettings {
	return hostSettings{
		catalog: catalog(), dir: o.Dir, root: o.Root, spec: o.Spec, allow: o.Allow,
		home: home, tenant: o.Tenant, set: o.Set, env: ui.Getenv, parameters: parameters,
	}
}

// recompileOptions are those under which a program of that origin is made again.
func recompileOptions(o *engine.Origin, set ...string) dsl.Options {
	return dsl.Options{Catalog: catalog(), Checks: checkKinds().Blueprints("check"), Root: o.Root, AllowPaths: o.Allow, Set: set, Prices: dsl.RecordedPrices(o.Prices, nil)}
}
