package config

import (
	"errors"

	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/dsl/syntax"
	"github.com/pexctl/pex/engine/component"
)

// ReportFault reports a component's fault at its position in the entry v.
func (u *Unit) ReportFault(v *syntax.Node, f component.Fault) {
	u.Report.Error(diag.BadConfig, v.PointedAt(f.At), "%s", f.Message).Hint = f.Hint
}

// ReportBuildError reports why a component cannot be built: faults at their positions in
// its entry v, any other error at at.
func (u *Unit) ReportBuildError(v *syntax.Node, at syntax.Position, what string, err error) {
	faults, ok := errors.AsType[component.Faults](err)
	if !ok {
		u.Report.Error(diag.BadConfig, at, "invalid configuration of %s: %v", what, err)
		return
	}
	for _, f := range faults {
		u.ReportFault(v, f)
	}
}
