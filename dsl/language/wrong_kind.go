package language

import (
	"slices"

	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/dsl/specfs"
	"github.com/pexctl/pex/dsl/syntax"
)

// usageOf says which command takes a file of a kind.
var usageOf = map[string]string{
	specfs.KindTests:  "run it with pexctl test",
	specfs.KindSuite:  "run it with pexctl eval",
	specfs.KindPrices: "pass it with --prices to commands that read a spec",
	specfs.KindServer: "start it with pexctl serve",
	specfs.KindTokens: "name it in a file of kind: Server: auth: {tokens: {file: FILE}}",
}

// WrongKind reports a file whose kind is not the wanted one.
func WrongKind(r *syntax.Report, tree *syntax.Node, want string) {
	e := tree.Find("kind")
	if e == nil {
		r.Error(diag.MissingKey, tree.Position, "missing required key \"kind\"").Hint = "write kind: " + want
		return
	}
	d := r.Error(diag.WrongKind, e.Value.Position, "a file of kind: %s is not a %s", e.Value.Text, want)
	switch kind := e.Value.Text; {
	case want == specfs.KindTokens && slices.Contains(specfs.Kinds, kind):
		d.Message = "a file of kind: " + kind + " is not a token file"
		d.Hint = "write the path of a file of kind: Tokens; pexctl serve token new NAME prints an entry for it"
	case kind == specfs.KindAgent && want == specfs.KindPrices:
		d.Hint = "pass it as the spec; --prices takes a file of kind: Prices"
	case kind == specfs.KindAgent && want == specfs.KindServer:
		d.Hint = "to serve it, write agents: {NAME: {spec: " + tree.Position.Source.Name + "}} in a server file"
	case kind == specfs.KindAgent:
		d.Hint = "to evaluate it, write spec: " + tree.Position.Source.Name + " in a suite; to run it, use pexctl run"
	case kind == specfs.KindLibrary:
		d.Hint = "include it from an agent: include: [" + tree.Position.Source.Name + "]"
	case usageOf[kind] != "":
		d.Hint = usageOf[kind]
	default:
		d.Message = "unknown kind " + syntax.Quote(kind)
		d.Advice = diag.Suggest(kind, specfs.Kinds)
	}
}

// NotAnAgent reports a file of another kind in place of a spec, and returns
// whether it did.
func NotAnAgent(r *syntax.Report, kind *syntax.Node) bool {
	hint := usageOf[kind.Text]
	if hint != "" {
		r.Error(diag.WrongKind, kind.Position, "a file of kind: %s is not an agent", kind.Text).Hint = hint
	}
	return hint != ""
}
