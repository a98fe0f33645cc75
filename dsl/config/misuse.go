package config

import (
	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/dsl/guard/interval"
	"github.com/pexctl/pex/dsl/syntax"
)

// ReportMisuses reports misuses in an expression. untyped reports a server whose
// tools are not known.
func (u *Unit) ReportMisuses(v *syntax.Node, misuses []interval.Misuse, untyped func(at syntax.Position, server string)) {
	for _, m := range misuses {
		at := v.PositionAt(m.Offset)
		switch {
		case m.Server != "":
			untyped(at, m.Server)
		case m.Maybe:
			u.Report.Warn(diag.OptionalName, at, "%s", m.Message).Advice = m.Advice
		default:
			u.Report.Error(diag.BadExpression, at, "%s", m.Message).Advice = m.Advice
		}
	}
}
