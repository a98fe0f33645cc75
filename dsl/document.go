package dsl

import (
	"encoding/json"

	"github.com/pexctl/pex/dsl/diag"
)

// JSON reads a YAML document that is no spec, such as the state a prompt is
// rendered in, by the same rules as a spec: bounds, scalars, positions. name is
// what diagnostics call it.
func JSON(name string, text []byte) (json.RawMessage, diag.List) {
	r := &report{}
	v := parse(&source{name: name, text: text}, r)
	if v == nil || r.list.Failed() {
		return nil, r.list.Sort()
	}
	return v.appendJSON(nil), r.list.Sort()
}
