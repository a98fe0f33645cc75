package host

import (
	"os"
	"slices"
	"strings"

	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/dsl/edit"
	"github.com/pexctl/pex/dsl/pricing"
	"github.com/pexctl/pex/dsl/specfs"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/runs"
	"github.com/pexctl/pex/engine/secret"
	"github.com/pexctl/pex/internal/app/catalog"
	"github.com/pexctl/pex/internal/app/failure"
	"github.com/pexctl/pex/internal/app/version"
)

// Reporter receives events during the resumption of a run.
type Reporter struct {
	// Diagnostics shows the diagnostics of a program. It returns an error if the program cannot be run.
	Diagnostics func(diag.List) error
	// SpecGone is called if the file of a run's spec no longer exists. The run continues with the stored spec.
	SpecGone func(file string)
}

// Runs returns the environment that executes and reads the runs of a home. The caller adds the responder and the
// reader of recordings.
func Runs(components *catalog.Catalog, home string, r Reporter) runs.Env {
	cache := &programs{components: components}
	return runs.Env{
		Compile: func(start engine.Start, set ...string) (*engine.Program, error) {
			if len(set) == 0 {
				return cache.compile(start)
			}
			origin := start.Input.Origin
			p, found := dsl.Recompile(start.Program, origin.Dir, RecompileOptions(components, origin, set...))
			return p, r.Diagnostics(OfSettings(found))
		},
		Current: func(origin *engine.Origin) (*engine.Program, error) {
			if _, err := os.Stat(specfs.FileOf(origin.Spec)); err != nil {
				r.SpecGone(origin.Spec)
				return nil, nil
			}
			p, _, found := dsl.Compile(origin.Spec, currentOptions(components, origin))
			return p, invalid(found)
		},
		Connect: func(p *engine.Program, in engine.Input) (engine.Host, error) {
			h, err := New(p, SettingsOf(components, in.Origin, home, in.Parameters))
			if err != nil {
				err = failure.Usagef("%w", err)
			}
			return h, err
		},
		Ready: func(p *engine.Program, start engine.Start) error {
			return r.Diagnostics(MissingKeys(components, p, start.Program, start.Input.Origin))
		},
		Secrets: func(p *engine.Program, h engine.Host) *secret.Values { return Secrets(components, p, h.Env) },
		Sinks: func(p *engine.Program, in *engine.Input) []engine.Sink {
			if components.Sinks == nil {
				return nil
			}
			return components.Sinks(home, p, in)
		},
		Version: version.String(),
	}
}

// currentOptions returns the options for compiling the current spec of a run.
func currentOptions(components *catalog.Catalog, origin *engine.Origin) dsl.Options {
	o := RecompileOptions(components, origin, origin.Set...)
	o.Environ, o.Prompts = origin.Environ, origin.Prompts
	o.Prices = pricing.Recorded(origin.Prices, pricing.Known())
	return o
}

// InvalidError is returned for a program that does not compile.
type InvalidError struct{ Found diag.List }

// Error returns the first diagnostic.
func (e *InvalidError) Error() string { return e.Found[0].Message }

// invalid converts diagnostics to an error, or nil if none is an error.
func invalid(found diag.List) error {
	if found.Failed() {
		return &InvalidError{found}
	}
	return nil
}

// OfSettings returns the diagnostics of a recompiled program without those of the original compilation, which were
// shown then or suppressed by comments that the journal does not have. Diagnostics caused by --set and by edited
// prompts are new.
func OfSettings(found diag.List) diag.List {
	return slices.DeleteFunc(slices.Clone(found), func(d diag.Diagnostic) bool {
		_, isEdit := edit.PromptOf(d)
		return d.Severity == diag.Warning && !isEdit && !strings.HasPrefix(d.File, "--set ")
	})
}
