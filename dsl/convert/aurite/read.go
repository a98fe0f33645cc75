package aurite

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pexctl/pex/dsl/convert"
	"github.com/pexctl/pex/dsl/convert/internal/tree"
)

// Kinds of components by Aurite's types.
const (
	kindLLM    = "llm"
	kindServer = "mcp_server"
	kindAgent  = "agent"
	kindLinear = "linear_workflow"
	kindGraph  = "graph_workflow"
	kindScript = "custom_workflow"
	kindEval   = "evaluation"
	kindOther  = "" // without a counterpart
)

// kindsByType maps the values of type.
var kindsByType = map[string]string{
	"llm": kindLLM, "mcp_server": kindServer, "client": kindServer, "agent": kindAgent,
	"linear_workflow": kindLinear, "simple_workflow": kindLinear, "graph_workflow": kindGraph,
	"custom_workflow": kindScript, "evaluation": kindEval, "security": kindOther, "host": kindOther,
}

// sections are the keys of project files that contain components of a kind.
var sections = []struct{ key, kind string }{
	{"llms", kindLLM},
	{"llm_configs", kindLLM},
	{"mcp_servers", kindServer},
	{"clients", kindServer},
	{"agents", kindAgent},
	{"linear_workflows", kindLinear},
	{"simple_workflows", kindLinear},
	{"workflows", kindLinear},
	{"graph_workflows", kindGraph},
	{"custom_workflows", kindScript},
	{"evaluations", kindEval},
}

// read reads the components of a file.
func (m *project) read(in convert.Input) error {
	roots, notes, err := tree.ReadAny(in)
	switch {
	case err != nil && in.Found:
		m.Notes = append(m.Notes, convert.Note{File: in.Name, Path: ".", Outcome: convert.Todo, What: "cannot be read and is left out: " + tree.OneLine(strings.TrimPrefix(err.Error(), in.Name+": "))})
		return nil
	case err != nil:
		return err
	case in.Found && !slices.ContainsFunc(roots, holdsComponents):
		return nil
	}
	m.from = append(m.from, in.Name)
	m.Notes = append(m.Notes, notes...)
	for _, root := range roots {
		m.roots = append(m.roots, root)
		m.collect(root)
	}
	return nil
}

// holdsComponents reports whether a file found in a folder belongs to the
// project: it has a component with a type, sections of components, or an agent.
func holdsComponents(root *tree.Value) bool {
	switch root.Kind {
	case tree.List:
		return slices.ContainsFunc(root.Items, holdsComponents)
	case tree.Object:
		return kindsByType[root.Get("type").Peek()] != "" || isProject(root) || guessKind(root) == kindAgent || root.Get("llm_id") != nil || root.Get("client_id") != nil
	default:
		return false
	}
}

// collect reads components from a list, a project file or a component.
func (m *project) collect(root *tree.Value) {
	switch {
	case root.Kind == tree.List:
		for _, it := range root.Items {
			if it.Kind == tree.Object {
				m.collect(it)
			}
		}
	case root.Kind != tree.Object:
	case kindsByType[root.Get("type").Peek()] != "":
		m.add(kindsByType[root.Get("type").UseText()], "", root)
	case isProject(root):
		m.project(root)
	default:
		if kind := guessKind(root); kind != kindOther {
			m.add(kind, "", root)
		} else if root.Get("type") != nil {
			m.add(kindOther, "", root)
		}
	}
}

// isProject reports whether an object has sections of components.
func isProject(it *tree.Value) bool {
	if it.Get("host").Peek() == "" && it.Get("host") != nil {
		return true
	}
	return slices.ContainsFunc(sections, func(s struct{ key, kind string }) bool {
		at := it.Get(s.key)
		return at != nil && (at.Kind == tree.Object || slices.ContainsFunc(at.Items, func(sub *tree.Value) bool { return sub.Kind == tree.Object }))
	})
}

// project reads the components of a project file.
func (m *project) project(root *tree.Value) {
	if name := root.Get("name"); name != nil && m.title == "" {
		m.title = tree.Sentence(name.Peek())
		m.Note(name, convert.Changed, "a project is a folder here, and each agent has a name of its own")
	}
	m.Note(root.Get("description"), convert.Dropped, "a project has no description here")
	if host := root.Get("host"); host != nil && host.Kind == tree.Object {
		m.project(host)
	}
	for _, s := range sections {
		at := root.Get(s.key)
		if at == nil {
			continue
		}
		for i, it := range at.Items {
			switch {
			case it.Kind == tree.Object && at.Kind == tree.Object:
				m.add(s.kind, at.Keys[i], it)
			case it.Kind == tree.Object:
				m.add(s.kind, "", it)
			case it.Kind == tree.Text:
				m.refs = append(m.refs, it)
			}
		}
	}
}

// guessKind returns the kind of a component without a type, judged by its keys.
func guessKind(it *tree.Value) string {
	for _, sign := range []struct{ key, kind string }{
		{"llm_id", kindLLM},
		{"provider", kindLLM},
		{"client_id", kindServer},
		{"server_path", kindServer},
		{"http_endpoint", kindServer},
		{"command", kindServer},
		{"test_cases", kindEval},
		{"module_path", kindScript},
		{"nodes", kindGraph},
		{"steps", kindLinear},
		{"system_prompt", kindAgent},
		{"llm_config_id", kindAgent},
		{"client_ids", kindAgent},
		{"mcp_servers", kindAgent},
	} {
		if it.Get(sign.key) != nil {
			return sign.kind
		}
	}
	return kindOther
}

// add adds a component unless there is one with its kind and name.
func (m *project) add(kind, key string, it *tree.Value) {
	if len(m.parts) > maxComponents {
		return // reported as an error at the end
	}
	name := key
	for _, k := range []string{"name", "llm_id", "client_id"} {
		if own := it.Get(k).UseText(); own != "" {
			name = own
		}
	}
	if t := it.Get("type"); t != nil && kindsByType[t.Peek()] == kind {
		t.Use()
	}
	if name == "" {
		name = fmt.Sprintf("%s-%d", strings.ReplaceAll(kind, "_", "-"), len(m.byKind(kind))+1)
		if kind != kindOther {
			m.NoteAt(it.File, it.Path, convert.Changed, "it has no name and is called %s here", name)
		}
	}
	if kind != kindOther && m.find(name, kind) != nil {
		m.Note(it, convert.Dropped, "there is a component of this kind and name already: the first counts")
		return
	}
	m.parts = append(m.parts, &component{kind: kind, name: name, it: it})
}
