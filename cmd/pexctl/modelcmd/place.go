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

// placedModel is an llm with the agent that has it.
type placedModel struct {
	spec  *engine.ModelSpec
	agent string    // the file of an agent within the spec, from its folder; "" = the spec itself
	of    *dsl.Spec // that the llm stands in
	host  host.Settings
	use   use
}

// name is that of the llm, with its agent.
func (m *placedModel) name() string { return m.place(m.spec.Name) }

// path is where the llm stands.
func (m *placedModel) path() string { return m.place(pathOf(m.spec)) }

// address is where the address of the llm's server stands, "" = nowhere.
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

// named says whether a name is that of the llm, with its agent or without.
func (m *placedModel) named(name string) bool { return name == m.spec.Name || name == m.name() }

// placedModels are the llms of a spec, and then those of the agents within it,
// each agent once. What an agent has from the file of the spec itself stands
// there, with what the agent does with it. For addresses, parameters are what is
// given, and else their defaults.
func placedModels(p *engine.Program, spec *dsl.Spec, s host.Settings, given map[string]any) []placedModel {
	f := &placing{given: given, seen: map[string]bool{}}
	s.Parameters = f.parameters(p)
	f.add(p, spec, s, "")
	return f.all
}

type placing struct {
	all   []placedModel
	given map[string]any
	seen  map[string]bool // files of agents
}

// parameters are those that an agent has without its caller.
func (f *placing) parameters(p *engine.Program) map[string]any {
	out := project.Defaults(p)
	for _, parameter := range p.Parameters {
		if v, ok := f.given[parameter.Name]; ok {
			out[parameter.Name] = v
		}
	}
	return out
}

func (f *placing) add(p *engine.Program, spec *dsl.Spec, s host.Settings, agent string) {
	uses := usesOf(p, spec)
	for i := range p.Models {
		m := placedModel{&p.Models[i], agent, spec, s, uses[p.Models[i].Name]}
		if !f.shared(&m) {
			f.all = append(f.all, m)
		}
	}
	for _, inner := range p.Agents {
		file := path.Join(path.Dir(specfs.FileOf(agent)), inner.File)
		if within := specOf(spec, inner); within != nil && !f.seen[file] {
			f.seen[file] = true
			f.add(inner, within, s.Within(inner, f.parameters(inner)), file)
		}
	}
}

// shared adds what an agent does with an llm to the uses of the same llm of
// another agent in its file, and says whether there is one.
func (f *placing) shared(m *placedModel) bool {
	i := slices.IndexFunc(f.all, func(other placedModel) bool {
		return other.of.File == m.of.File && same(*other.spec, *m.spec)
	})
	if i < 0 {
		return false
	}
	f.all[i].use.join(m)
	return true
}

// same says whether two llms are written alike.
func same(a, b engine.ModelSpec) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}

// join adds what an agent does with an llm, by its name.
func (u *use) join(m *placedModel) {
	if len(m.use.by) > 0 && !slices.Contains(u.by, m.agent) {
		u.by = append(u.by, m.agent)
	}
	u.words, u.tools, u.schema = u.words || m.use.words, u.tools || m.use.tools, u.schema || m.use.schema
}

// specOf is the spec of a program within another; nil = it is not known.
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
