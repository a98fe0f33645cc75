package dsl

import (
	"errors"

	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/dsl/syntax"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/model"
)

// atBaseURL is where faults stand that hang on an llm's base_url.
const atBaseURL = "/base_url"

// checkProvider reports what a provider's Config finds wrong with an llm, as
// far as it is known before a run. v is the llm's entry.
func (c *compiler) checkProvider(v *syntax.Node, m *engine.ModelSpec) {
	f, ok := c.loader.options.Catalog.Models.Find(m.Provider)
	if !ok || m.Config == nil {
		return
	}
	base, known := constant(m.BaseURL)
	faults := f.Check(m.Config, model.Settings{
		Name: m.Name, Model: m.Params.Model, BaseURL: base,
		Dir: c.Dir, Root: c.loader.Files.Root, Allow: c.loader.options.AllowPaths,
	})
	for _, fault := range faults {
		if known || fault.At != atBaseURL {
			c.fault(v, fault)
		}
	}
}

// constant is what a template without references says; known is false for one
// that has some.
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

// refused reports why a component cannot be made: faults at their places in its
// entry v, anything else at the given place.
func (c *compiler) refused(v *syntax.Node, at syntax.Position, what string, err error) {
	faults, ok := errors.AsType[component.Faults](err)
	if !ok {
		c.Report.Error(diag.BadConfig, at, "%s cannot be made: %v", what, err)
		return
	}
	for _, f := range faults {
		c.fault(v, f)
	}
}

func (c *compiler) fault(v *syntax.Node, f component.Fault) {
	c.Report.Error(diag.BadConfig, v.PointedAt(f.At), "%s", f.Message).Hint = f.Hint
}
