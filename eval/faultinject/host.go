package faultinject

import (
	"context"

	"github.com/pexctl/pex/dsl/testspec"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/tool"
)

// Host returns a host for one run whose models and tools fail as configured. Calls of sub-agents count too. It has
// a model for each LLM of p, connected or not.
func (f *Faults) Host(p *engine.Program, h engine.Host) engine.Host {
	models := make(map[string]model.Model, len(p.Models))
	for i := range p.Models {
		name := p.Models[i].Name
		models[name] = &trialModel{faults: f, inner: h.Models[name]}
	}
	tools := make([]tool.Binding, len(h.Tools))
	for i, t := range h.Tools {
		tools[i] = t
		tools[i].Tool = f.wrapTool(nameOf(t), t.Tool)
	}
	nested := h.Nested
	h.Models, h.Tools = models, tools
	if nested != nil {
		h.Nested = func(p *engine.Program, parameters map[string]any) (engine.Host, error) {
			inner, err := nested(p, parameters)
			return f.Host(p, inner), err
		}
	}
	return h
}

func nameOf(t tool.Binding) string {
	if t.Spec != nil {
		return t.Spec.Name
	}
	return t.Tool.Info().Name
}

// wrapTool wraps a tool so that it may fail. A fault for one call hits only its first attempt, so that the tool's
// retries can be tested.
func (f *Faults) wrapTool(name string, t tool.Tool) tool.Tool {
	switch t := t.(type) {
	case tool.HumanTool, engine.AgentTool:
		return t // its Call method is not used
	case tool.Toolset:
		return tool.WrapToolset(t, name, f.wrapTool)
	}
	return tool.Wrap(t, func(ctx context.Context, c *tool.Call) (*tool.Output, error) {
		fault, aside := f.attempt(name, c.Path)
		switch {
		case fault != "":
			return toolFault(fault)
		case aside && f.recording != nil && !f.live[name]:
			return f.recording.Output(c.Path)
		}
		return t.Call(ctx, c)
	})
}

// attempt returns the fault of this attempt of a call, or "". aside reports that an earlier attempt had one.
func (f *Faults) attempt(name, path string) (fault testspec.InjectedError, aside bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	fault, aside = f.next[path]
	if aside && !f.always(name) {
		f.next[path] = ""
	}
	return fault, aside
}

// always reports whether every attempt of a tool fails.
func (f *Faults) always(name string) bool {
	for _, in := range f.injections {
		if in.Tool == name && in.Call == 0 {
			return true
		}
	}
	return false
}
