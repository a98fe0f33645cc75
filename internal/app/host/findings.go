package host

import (
	"encoding/json"
	"slices"

	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/dsl/analysis"
	"github.com/pexctl/pex/dsl/diag"
)

// NewFindings returns the diagnostics of vet that the overrides and edits of the options cause
// in the program of a run.
func NewFindings(source json.RawMessage, dir string, o dsl.Options) diag.List {
	o.Analyzers = analysis.All()
	_, found := dsl.Recompile(source, dir, o)
	o.Set, o.Prompts = nil, nil
	_, before := dsl.Recompile(source, dir, o)
	return slices.DeleteFunc(found, func(d diag.Diagnostic) bool {
		return slices.ContainsFunc(before, func(b diag.Diagnostic) bool {
			return d.File == b.File && d.Line == b.Line && d.Code == b.Code && d.Message == b.Message
		})
	})
}
