package host

import (
	"os"
	"slices"
	"strings"

	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/dsl/pricing"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/internal/app/catalog"
)

// Overrides returns the overrides of a spec in an environment.
func Overrides(environ []string) []string {
	return slices.DeleteFunc(environ, func(v string) bool { return !strings.HasPrefix(v, "PEX_SET_") })
}

// SettingsOf returns the settings for a program of that origin.
func SettingsOf(components *catalog.Catalog, o *engine.Origin, home string, parameters map[string]any) Settings {
	return Settings{
		Catalog: components, Dir: o.Dir, Root: o.Root, Spec: o.Spec, Allow: o.Allow,
		home: home, tenant: o.Tenant, set: o.Set, Env: os.Getenv, Parameters: parameters,
	}
}

// RecompileOptions returns the options for compiling a program of that origin again.
func RecompileOptions(components *catalog.Catalog, o *engine.Origin, set ...string) dsl.Options {
	out := components.Options()
	out.Root, out.AllowPaths, out.Set, out.Prices = o.Root, o.Allow, set, pricing.Recorded(o.Prices, nil)
	return out
}
