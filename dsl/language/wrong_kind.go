package language

import (
	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/dsl/specfs"
	"github.com/pexctl/pex/dsl/syntax"
)

// WrongKind reports a file of another kind than the one that is wanted.
func WrongKind(r *syntax.Report, tree *syntax.Node, want string) {
	e := tree.Find("kind")
	if e == nil {
		r.Error(diag.MissingKey, tree.Position, "the file has no kind").Hint = "write kind: " + want
		return
	}
	d := r.Error(diag.WrongKind, e.Value.Position, "a file of kind: %s is not a %s", e.Value.Text, want)
	switch e.Value.Text {
	case specfs.KindAgent:
		if want == specfs.KindPrices {
			d.Hint = "give it as the spec; --prices names a file of kind: Prices"
			return
		}
		d.Hint = "a suite names it by spec: " + tree.Position.Source.Name + "; pexctl run runs it"
	case specfs.KindLibrary:
		d.Hint = "agents include it: include: [" + tree.Position.Source.Name + "]"
	case specfs.KindTests:
		d.Hint = "run it by pexctl test"
	case specfs.KindSuite:
		d.Hint = "run it by pexctl eval"
	case specfs.KindPrices:
		d.Hint = "commands that read specs take it as --prices"
	default:
		d.Message = "unknown kind " + syntax.Quote(e.Value.Text)
		d.Advice = diag.Suggest(e.Value.Text, specfs.Kinds)
	}
}
