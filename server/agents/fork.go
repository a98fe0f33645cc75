package agents

import (
	"encoding/json"
	"slices"

	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/dsl/pricing"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/runs"
	"github.com/pexctl/pex/internal/app/host"
	"github.com/pexctl/pex/internal/app/version"
)

// Fork returns a fork of a run, of the program with which it started, with overrides and
// edits of prompts; see dsl.Options. at is the path of the first live effect; see runs.Fork.
func (s *Set) Fork(id, at string, set []string, prompts map[string]string) runs.Fork {
	return runs.Fork{
		RunID: id, At: at,
		Compile: func(parent engine.Start, raised []string) (*engine.Program, *engine.Origin, error) {
			return s.recompile(parent, slices.Concat(raised, set), prompts)
		},
		Inputs: func(p *engine.Program, given map[string]any) (map[string]any, error) {
			file, err := json.Marshal(given)
			if err != nil {
				return nil, err
			}
			in, err := dsl.Inputs(p, "", nil, file)
			if err != nil {
				return nil, &ParametersError{err}
			}
			return in, nil
		},
	}
}

// Findings returns the diagnostics of vet that overrides and edits of prompts cause in the
// program of a run.
func (s *Set) Findings(start engine.Start, set []string, prompts map[string]string) diag.List {
	o := host.RecompileOptions(s.options.Catalog, start.Input.Origin, set...)
	o.Prompts, o.Prices = prompts, pricing.Recorded(start.Input.Origin.Prices, pricing.Known())
	return host.NewFindings(start.Program, start.Input.Origin.Dir, o)
}

// recompile compiles the program of a run with overrides and edits of prompts.
func (s *Set) recompile(parent engine.Start, set []string, prompts map[string]string) (*engine.Program, *engine.Origin, error) {
	origin := *parent.Input.Origin
	origin.Version = version.String()
	p, err := s.options.recompile(parent.Program, &origin, pricing.Recorded(origin.Prices, pricing.Known()), set, prompts)
	return p, &origin, err
}
