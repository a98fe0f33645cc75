package llm

import (
	"github.com/pexctl/pex/dsl/syntax"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/model"
)

// atBaseURL is the pointer of faults that depend on an LLM's base_url.
const atBaseURL = "/base_url"

// checkProvider reports the faults that a provider's Config finds in an LLM
// before a run. v is the LLM's entry.
func (c *Compiler) checkProvider(v *syntax.Node, m *engine.ModelSpec) {
	f, ok := c.catalog.Models.Find(m.Provider)
	if !ok || m.Config == nil {
		return
	}
	base, known := constant(m.BaseURL)
	faults := f.Check(m.Config, model.Settings{
		Name: m.Name, Model: m.Params.Model, BaseURL: base,
		Dir: c.Dir, Root: c.Files.Root, Allow: c.AllowPaths,
	})
	for _, fault := range faults {
		if known || fault.At != atBaseURL {
			c.ReportFault(v, fault)
		}
	}
}

// constant returns the text of a template without references. known is false if
// it has some.
func constant(t component.Template) (text string, known bool) {
	known = true
	text = t.Render(func(string, string) (any, bool) {
		known = false
		return nil, false
	})
	if !known {
		return "", false
	}
	return text, true
}
