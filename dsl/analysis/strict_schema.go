package analysis

import (
	"bytes"
	"slices"

	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/model"
)

// StrictSchema finds keywords of output.schema that prevent a provider from
// enforcing the schema. The provider defines the rules; the nodes of the graph
// determine the LLMs that return an answer of that schema.
var StrictSchema = dsl.Analyzer{Name: "strict_schema", Codes: []diag.Code{diag.NotStrict}, Run: func(p *dsl.Pass) {
	if p.Program.Output == nil || p.Program.Output.Schema.IsZero() {
		return
	}
	schema := p.Spec.Tree().Get("output", "schema")
	told := map[string]bool{}
	for _, name := range answerLLMs(p) {
		m := modelOf(p, name)
		if m == nil {
			continue
		}
		holder, ok := m.Config.(model.SchemaHolder)
		if !ok {
			continue
		}
		settings := model.Settings{Name: m.Name, Model: m.Params.Model, BaseURL: m.BaseURL.Text}
		for _, f := range holder.UnenforcedKeywords(settings, p.Program.Output.Schema.Current()) {
			if at := schema.Pointed(f.At).Place(); !told[m.Provider+f.At+f.Message] {
				told[m.Provider+f.At+f.Message] = true
				p.Warn(diag.NotStrict, at, "%s does not enforce this schema for LLM %q: %s", m.Provider, m.Name, f.Message).Hint = f.Hint
			}
		}
	}
}}

// answerLLMs returns the LLMs that a node of the graph asks for an answer of the
// output schema, with their fallbacks.
func answerLLMs(p *dsl.Pass) []string {
	var out []string
	for _, n := range p.Program.Graph.Nodes {
		caller, ok := p.Program.Nodes[n.ID].(engine.Requester)
		if !ok {
			continue
		}
		c := caller.Call(engine.View{Program: p.Program})
		if c.Schema == nil || !bytes.Equal(c.Schema.Schema, p.Program.Output.Schema.Current()) {
			continue
		}
		for _, name := range append([]string{c.LLM}, fallbacks(p, c.LLM)...) {
			if !slices.Contains(out, name) {
				out = append(out, name)
			}
		}
	}
	return out
}

func fallbacks(p *dsl.Pass, llm string) []string {
	if m := modelOf(p, llm); m != nil {
		return m.Fallback
	}
	return nil
}

// modelOf returns the LLM with a name, or nil if there is none.
func modelOf(p *dsl.Pass, name string) *engine.ModelSpec {
	i := slices.IndexFunc(p.Program.Models, func(m engine.ModelSpec) bool { return m.Name == name })
	if i < 0 {
		return nil
	}
	return &p.Program.Models[i]
}
