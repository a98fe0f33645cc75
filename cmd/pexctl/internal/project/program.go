package project

import (
	"slices"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/eval/render"
)

// PromptedNode returns the first node of the graph that calls a model. The
// preferred ones come before all others; "" means that no node calls one.
func PromptedNode(p *engine.Program, preferred ...string) string {
	v := engine.ViewOf(p, engine.Input{Parameters: DefaultParameters(p)}, &engine.Result{}, nil, render.Epoch)
	ids := slices.Clip(preferred)
	for _, n := range p.Graph.Nodes {
		ids = append(ids, n.ID)
	}
	i := slices.IndexFunc(ids, func(id string) bool {
		_, err := render.Call(v, id)
		return err == nil
	})
	if i < 0 {
		return ""
	}
	return ids[i]
}

// ScriptedProvider is the provider that plays replies from the spec.
const ScriptedProvider = "scripted"

// LLM returns the LLM with a name, or nil.
func LLM(p *engine.Program, name string) *engine.ModelSpec {
	for i := range p.Models {
		if p.Models[i].Name == name {
			return &p.Models[i]
		}
	}
	return nil
}

// DefaultParameters returns the parameters that need no input.
func DefaultParameters(p *engine.Program) map[string]any {
	out := map[string]any{}
	for _, parameter := range p.Parameters {
		if parameter.Default != nil {
			out[parameter.Name] = parameter.Default
		}
	}
	return out
}
