package dsl

import (
	"encoding/json"

	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/dsl/syntax"
)

// JSON reads a YAML document that is not a spec, such as the state for rendering
// a prompt, with the same rules as a spec for size limits, scalars and positions.
// name is its name in diagnostics.
func JSON(name string, text []byte) (json.RawMessage, diag.List) {
	r := &syntax.Report{}
	v := syntax.Parse(&syntax.Source{Name: name, Text: text}, r)
	if v == nil || r.List.Failed() {
		return nil, r.List.Sort()
	}
	return v.AppendJSON(nil), r.List.Sort()
}
