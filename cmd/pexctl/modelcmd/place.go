package modelcmd

import (
	"bytes"
	"encoding/json"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pexctl/pex/cmd/pexctl/internal/project"
	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/dsl/specfs"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/internal/app/host"
)

// placedModel is an LLM with its agent.
type placedModel struct {
	spec  *engine.ModelSpec
	agent string    // the file of an agent within the spec, relative to its folder; "" for the spec itself
	of    *dsl.Spec // the spec that contains the LLM
	host  host.Settings
	use   llmUse
}

// name returns the name of the LLM, with its agent.
func (m *placedModel) name() string { return m.place(m.spec.Name) }

// path returns the path of the LLM.
func (m *placedModel) path() string { return m.place(pathOf(m.spec)) }

// address returns the path of the address of the LLM's server, or "" if there is
// none.
func (m *placedModel) address() string {
	if at := addressPath(m.spec); at != "" {
		return m.place(at)
	}
	return ""
}

func (m *placedModel) place(text string) string {
	if m.agent == "" {
		return text
	}
	return m.agent + ":" + text
}

// named reports whether a name is that of the LLM, with or without its agent.
func (m *placedModel) named(name string) bool { return name == m.spec.Name || name == m.name() }

// placedModels returns the LLMs of a spec, followed by those of the agents within
// it, each agent once. What an agent shares with the spec's file is listed there,
// with the agent's uses added. given are the parameters for addresses; others
// have their defaults.
func placedModels(p *engine.Program, spec *dsl.Spec, s host.Settings, given map[string]any) []placedModel {
	f := &modelCollector{given: given, agentFiles: map[string]bool{}}
	s.Parameters = f.parameters(p)
	f.add(p, spec, s, "")
	return f.all
}

type modelCollector struct {
	all        []placedModel
	given      map[string]any
	agentFiles map[string]bool // files of agents
}

// parameters returns those of an agent that its caller need not pass.
func (f *modelCollector) parameters(p *engine.Program) map[string]any {
	out := project.DefaultParameters(p)
	for _, parameter := range p.Parameters {
		if v, ok := f.given[parameter.Name]; ok {
			out[parameter.Name] = v
		}
	}
	return out
}

func (f *modelCollector) add(p *engine.Program, spec *dsl.Spec, s host.Settings, agent string) {
	uses := usesOf(p, spec)
	for i := range p.Models {
		m := placedModel{&p.Models[i], agent, spec, s, uses[p.Models[i].Name]}
		if !f.shared(&m) {
			f.all = append(f.all, m)
		}
	}
	for _, inner := range p.Agents {
		file := path.Join(path.Dir(specfs.FileOf(agent)), inner.File)
		if within := specOf(spec, inner); within != nil && !f.agentFiles[file] {
			f.agentFiles[file] = true
			f.add(inner, within, s.Within(inner, f.parameters(inner)), file)
		}
	}
}

// shared adds an agent's uses of an LLM to those of the same LLM of another agent
// in its file, and reports whether there is one.
func (f *modelCollector) shared(m *placedModel) bool {
	i := slices.IndexFunc(f.all, func(other placedModel) bool {
		return other.of.File == m.of.File && sameLLM(*other.spec, *m.spec)
	})
	if i < 0 {
		return false
	}
	f.all[i].use.join(m)
	return true
}

// sameLLM reports whether two LLMs have the same definition.
func sameLLM(a, b engine.ModelSpec) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}

// join adds an agent's uses of an LLM with the same name.
func (u *llmUse) join(m *placedModel) {
	if len(m.use.by) > 0 && !slices.Contains(u.by, m.agent) {
		u.by = append(u.by, m.agent)
	}
	u.text, u.tools, u.schema = u.text || m.use.text, u.tools || m.use.tools, u.schema || m.use.schema
}

// specOf returns the spec of a program within another, or nil if unknown.
func specOf(outer *dsl.Spec, p *engine.Program) *dsl.Spec {
	bare := specfs.FileOf(p.File)
	file, agent := filepath.Join(filepath.Dir(outer.File), filepath.FromSlash(bare)), strings.TrimPrefix(p.File[len(bare):], "#")
	for _, s := range outer.Agents() {
		if s.File == file && s.Agent == agent {
			return s
		}
	}
	return nil
}
