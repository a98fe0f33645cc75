package diff

import (
	"path/filepath"
	"strings"

	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/dsl/language"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/costbound"
	"github.com/pexctl/pex/engine/tool"
)

// side is one of the two specs. It is empty if the spec does not exist.
type side struct {
	spec     *dsl.Spec
	tree     dsl.Value
	program  *engine.Program   // nil if it is a Library or does not exist
	defaults map[string]string // shortened, as shown
	whole    map[string]string // full text of shortened defaults
	estimate costbound.Estimate
	texts    map[string]expandedPrompt // of named prompts
}

func newSide(s *dsl.Spec, o costbound.Options) *side {
	out := &side{spec: s, defaults: map[string]string{}, whole: map[string]string{}, texts: map[string]expandedPrompt{}}
	if s == nil {
		return out
	}
	out.tree = s.Tree()
	for _, origin := range s.Explain() {
		if origin.Origin == "default" || strings.HasPrefix(origin.Origin, "known prices") {
			out.defaults[origin.Path] = origin.Value
			if origin.Whole != "" {
				out.whole[origin.Path] = origin.Whole
			}
		}
	}
	if out.program, _ = s.Compile(); out.program != nil {
		out.estimate = costbound.Bound(out.program, o)
		out.addImplicit()
	}
	return out
}

// addImplicit adds implicit values that are not recorded as defaults.
func (s *side) addImplicit() {
	if o := s.program.Output; o != nil {
		s.defaults["output.repair.max_attempts"] = number(o.MaxAttempts)
	}
	if len(s.program.Graph.Nodes) > 0 {
		s.defaults["graph.start"] = s.program.Graph.Nodes[0].ID
	}
	for i := range s.program.Tools {
		path := "tools." + s.program.Tools[i].Name
		s.defaults[path+".timeout"] = tool.DefaultTimeout.String()
		s.defaults[path+".max_output_bytes"] = number(tool.DefaultMaxOutput)
	}
	main := s.tree.Get(language.Planner, "llm").Text()
	if all := s.tree.Get("llms").Entries(); main == "" && len(all) == 1 {
		main = all[0].Key
	}
	if main == "" {
		return
	}
	for _, role := range language.Roles {
		s.defaults[role+".llm"] = main
	}
	for _, n := range s.tree.Get("graph", "nodes").Items() {
		role := n.Get("type").Text()
		s.defaults["graph.nodes."+n.Get("id").Text()+".llm"] = first(s.tree.Get(role, "llm").Text(), main)
	}
}

// byDefault returns the full value in effect at a path where nothing is written.
// For a node it first looks in the section of its role.
func (s *side) byDefault(path string) (text string, known bool) {
	if rest, ok := strings.CutPrefix(path, "graph.nodes."); ok {
		id, key, _ := strings.Cut(rest, ".")
		node := find(byName(s.tree.Get("graph", "nodes")), id).Value
		if v := s.tree.Get(node.Get("type").Text(), key); key != "" && (scalar(v) || v.Get("use").IsText()) {
			return s.prompt(v).expandedPrompt.text, true
		}
	}
	if whole, ok := s.whole[path]; ok {
		return whole, true
	}
	text, known = s.defaults[path]
	return text, known
}

// tool returns the tool of the program with a name, or nil.
func (s *side) tool(name string) *tool.Spec {
	if s.program == nil {
		return nil
	}
	for i := range s.program.Tools {
		if s.program.Tools[i].Name == name {
			return &s.program.Tools[i]
		}
	}
	return nil
}

// model returns the LLM of the program with a name, or nil.
func (s *side) model(name string) *engine.ModelSpec {
	if s.program == nil {
		return nil
	}
	for i := range s.program.Models {
		if s.program.Models[i].Name == name {
			return &s.program.Models[i]
		}
	}
	return nil
}

// agent returns the spec of the agent that is called by this name, or nil.
func (s *side) agent(file string) *dsl.Spec {
	if s.spec == nil {
		return nil
	}
	for _, a := range s.spec.Agents() {
		if s.nameOf(a) == file {
			return a
		}
	}
	return nil
}

// nameOf returns the name of an agent in the resolved spec.
func (s *side) nameOf(a *dsl.Spec) string {
	rel, err := filepath.Rel(s.spec.Dir, a.File)
	if err != nil {
		return a.Path()
	}
	return filepath.ToSlash(rel) + strings.TrimPrefix(a.Path(), a.File)
}

// called returns the file of an agent whose resolved spec is this value, or "" if
// it is not one.
func called(v dsl.Value) string {
	if len(v.Entries()) == 2 && v.Get("spec", "apiVersion").Exists() {
		return v.Get("file").Text()
	}
	return ""
}

func first(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}
