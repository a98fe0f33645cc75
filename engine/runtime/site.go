package runtime

import (
	"encoding/json"
	"slices"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/jsonvalue"
	"github.com/pexctl/pex/engine/memory"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/runtime/redact"
	"github.com/pexctl/pex/engine/tool"
)

// site performs the effects of a run, or of a nested agent: it has the models, tools and stores
// that they need besides their Work, and knows nothing of the state of the run. So it may be in
// another process than the run; see Site.
type site struct {
	host    engine.Host
	outer   *site       // of the outermost run; nil = it is this one
	agents  []AgentCall // from the outermost run to this agent
	models  map[string]boundModel
	tools   map[string]*BoundTool
	retries *model.Retries // shared by the tree of runs

	runID      string
	input      *engine.Input // of the outermost run
	parameters map[string]any
	sessions   bool // tools may use the session state of the conversation
}

func newSite(p *engine.Program, h engine.Host, in *engine.Input) site {
	st := site{
		host: h, models: make(map[string]boundModel, len(p.Models)), tools: make(map[string]*BoundTool, len(h.Tools)),
		runID: in.RunID, input: in, parameters: in.Parameters, sessions: p.Memory.Backend != "none",
	}
	for i := range p.Models {
		m := h.Models[p.Models[i].Name]
		if rm, ok := m.(model.RunScoped); ok {
			m = rm.ForRun(in.RunID)
		}
		st.models[p.Models[i].Name] = boundModel{spec: &p.Models[i], model: m}
	}
	return st
}

// outermost returns the site of the outermost run.
func (st *site) outermost() *site {
	if st.outer != nil {
		return st.outer
	}
	return st
}

// prepare completes a tool for calls.
func (st *site) prepare(t *BoundTool) tool.Info {
	info := t.Info()
	t.cachedEffect, t.mask, t.vectorLLM = info.Effect, redact.New(st.host.Secrets), vectorLLM(t.Spec)
	t.redactVisible = func(d tool.Definition) tool.Definition { return t.mask.Definition(d.Visible()) }
	if t.sem == nil {
		t.sem = newSemaphore(t.Spec)
	}
	return info
}

// session returns the session state of the conversation of the outermost run; nil if nothing
// is stored.
func (st *site) session() tool.CallSession {
	root := st.outermost()
	if !st.sessions || !root.sessions {
		return nil
	}
	if store, ok := root.host.Memory.(memory.SessionStore); ok {
		return boundSession{store, ConversationID(*root.input)}
	}
	return nil
}

// files returns the user's files by the names in prompts.
func (st *site) files() map[string]string {
	root := st.outermost()
	return root.input.FilePaths(root.host.Artifacts)
}

// lookup returns the values available to a tool's own templates.
func (st *site) lookup(args json.RawMessage) component.Lookup {
	var m map[string]any // decoded args
	return func(ns, name string) (any, bool) {
		switch ns {
		case "args":
			if m == nil {
				m, _ = jsonvalue.Decode(args).(map[string]any) // valid JSON at this point
			}
			v, ok := m[name]
			return v, ok
		case "parameters":
			v, ok := st.parameters[name]
			return v, ok
		case "env":
			if st.host.Env == nil {
				return nil, false
			}
			v := st.host.Env(name)
			return v, v != ""
		}
		return nil, false
	}
}

// nest makes st the site of an agent that the agent of caller calls.
func (st *site) nest(caller *site, call AgentCall) {
	st.outer, st.retries = caller.outermost(), caller.retries
	st.agents = append(slices.Clip(caller.agents), call)
}
