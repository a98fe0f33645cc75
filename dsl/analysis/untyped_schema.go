package analysis

import (
	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/dsl/schema"
)

// UntypedSchema finds an output.schema without a type. Most of its keywords then
// check only values of one kind and accept all others.
var UntypedSchema = dsl.Analyzer{Name: "untyped_schema", Codes: []diag.Code{diag.UntypedSchema}, Run: func(p *dsl.Pass) {
	out := p.Program.Output
	if out == nil || out.Schema.IsZero() {
		return
	}
	compiled, err := schema.Compile(out.Schema.JSON)
	if err != nil || compiled.Typed() {
		return
	}
	p.Warn(diag.UntypedSchema, p.Spec.Tree().Get("output", "schema").Place(), "output.schema has no type, so it accepts values of other types").
		Hint = "add a type, such as type: object"
}}
