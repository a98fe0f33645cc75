package host

import (
	"os"
	"slices"
	"strings"

	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/dsl/pricing"
	"github.com/pexctl/pex/dsl/specfs"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/runs"
	"github.com/pexctl/pex/engine/secret"
	"github.com/pexctl/pex/internal/app/catalog"
	"github.com/pexctl/pex/internal/app/failure"
	"github.com/pexctl/pex/internal/app/version"
)

// Reporter receives what is found on the way of a run that is resumed.
type Reporter struct {
	// Diagnostics shows what is wrong with a program; the error says that it
	// cannot be run.
	Diagnostics func(diag.List) error
	// SpecGone says that the file of a run's spec does not exist any more: the run
	// continues with the spec as it was.
	SpecGone func(file string)
}

// Runs returns what executes the runs of a home and reads them again. The caller
// adds who decides, and what reads recordings.
func Runs(components *catalog.Catalog, home string, r Reporter) runs.Env {
	return runs.Env{
		Compile: func(start engine.Start, set ...string) (*engine.Program, error) {
			origin := start.Input.Origin
			p, found := dsl.Recompile(start.Program, origin.Dir, RecompileOptions(components, origin, set...))
			if len(set) > 0 {
				return p, r.Diagnostics(OfSettings(found))
			}
			return p, invalid(found)
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
		Version: version.String(),
	}
}

// currentOptions are those under which the spec of a run is compiled as it is now.
func currentOptions(components *catalog.Catalog, origin *engine.Origin) dsl.Options {
	o := RecompileOptions(components, origin, origin.Set...)
	o.Environ, o.Prices = origin.Environ, pricing.Recorded(origin.Prices, pricing.Known())
	return o
}

// InvalidError says that a program does not compile.
type InvalidError struct{ Found diag.List }

// Error is the first diagnostic.
func (e *InvalidError) Error() string { return e.Found[0].Message }

// invalid makes an error of diagnostics, nil where none of them is one.
func invalid(found diag.List) error {
	if found.Failed() {
		return &InvalidError{found}
	}
	return nil
}

// OfSettings returns what is wrong with a run's program that is compiled again,
// without the warnings that it came with: those were shown when it began, or
// ignored by a comment, which the journal does not keep. Those of a --set are new.
func OfSettings(found diag.List) diag.List {
	return slices.DeleteFunc(slices.Clone(found), func(d diag.Diagnostic) bool {
		return d.Severity == diag.Warning && !strings.HasPrefix(d.File, "--set ")
	})
}
