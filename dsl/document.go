package dsl

import (
	"encoding/json"

	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/dsl/syntax"
)

// JSON reads a YAML document that is no spec, such as the state a prompt is
// rendered in, by the same rules as a spec: bounds, scalars, positions. name is
// what diagnostics call it.
func JSON(name string, text []byte) (json.RawMessage, diag.List) {
	r := &syntax.Report{}
	v := syntax.Parse(&syntax.Source{Name: name, Text: text}, r)
	if v == nil || r.List.Failed() {
		return nil, r.List.Sort()
	}
	return v.AppendJSON(nil), r.List.Sort()
}
