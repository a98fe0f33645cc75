package language

import (
	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/dsl/specfs"
	"github.com/pexctl/pex/dsl/syntax"
)

// WrongKind reports a file whose kind is not the wanted one.
func WrongKind(r *syntax.Report, tree *syntax.Node, want string) {
	e := tree.Find("kind")
	if e == nil {
		r.Error(diag.MissingKey, tree.Position, "missing required key \"kind\"").Hint = "write kind: " + want
		return
	}
	d := r.Error(diag.WrongKind, e.Value.Position, "a file of kind: %s is not a %s", e.Value.Text, want)
	switch e.Value.Text {
	case specfs.KindAgent:
		if want == specfs.KindPrices {
			d.Hint = "pass it as the spec; --prices takes a file of kind: Prices"
			return
		}
		d.Hint = "to evaluate it, write spec: " + tree.Position.Source.Name + " in a suite; to run it, use pexctl run"
	case specfs.KindLibrary:
		d.Hint = "include it from an agent: include: [" + tree.Position.Source.Name + "]"
	case specfs.KindTests:
		d.Hint = "run it with pexctl test"
	case specfs.KindSuite:
		d.Hint = "run it with pexctl eval"
	case specfs.KindPrices:
		d.Hint = "pass it with --prices to commands that read a spec"
	default:
		d.Message = "unknown kind " + syntax.Quote(e.Value.Text)
		d.Advice = diag.Suggest(e.Value.Text, specfs.Kinds)
	}
}
