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

// Overrides are those of the environment that change a spec.
func Overrides(environ []string) []string {
	return slices.DeleteFunc(environ, func(v string) bool { return !strings.HasPrefix(v, "PEX_SET_") })
}

// SettingsOf is what a host needs for a program of that origin.
func SettingsOf(components *catalog.Catalog, o *engine.Origin, home string, parameters map[string]any) Settings {
	return Settings{
		Catalog: components, Dir: o.Dir, Root: o.Root, Spec: o.Spec, Allow: o.Allow,
		home: home, tenant: o.Tenant, set: o.Set, Env: os.Getenv, Parameters: parameters,
	}
}

// RecompileOptions are those under which a program of that origin is made again.
func RecompileOptions(components *catalog.Catalog, o *engine.Origin, set ...string) dsl.Options {
	out := components.Options()
	out.Root, out.AllowPaths, out.Set, out.Prices = o.Root, o.Allow, set, pricing.Recorded(o.Prices, nil)
	return out
}
