package convert

import (
	"fmt"
	"slices"
	"strings"
)

// The kinds of components, as Aurite's types call them.
const (
	anLLM    = "llm"
	aServer  = "mcp_server"
	anAgent  = "agent"
	aLine    = "linear_workflow"
	aGraph   = "graph_workflow"
	aScript  = "custom_workflow"
	anEval   = "evaluation"
	anOddity = "" // what pex has no counterpart of
)

// kindsByType are the values of type.
var kindsByType = map[string]string{
	"llm": anLLM, "mcp_server": aServer, "client": aServer, "agent": anAgent,
	"linear_workflow": aLine, "simple_workflow": aLine, "graph_workflow": aGraph,
	"custom_workflow": aScript, "evaluation": anEval, "security": anOddity, "host": anOddity,
}

// sections are the keys of project files under which components of a kind stand.
var sections = []struct{ key, kind string }{
	{"llms", anLLM},
	{"llm_configs", anLLM},
	{"mcp_servers", aServer},
	{"clients", aServer},
	{"agents", anAgent},
	{"linear_workflows", aLine},
	{"simple_workflows", aLine},
	{"workflows", aLine},
	{"graph_workflows", aGraph},
	{"custom_workflows", aScript},
	{"evaluations", anEval},
}

// read takes the components out of a file.
func (m *project) read(in Input) error {
	roots, notes, err := readAny(in)
	switch {
	case err != nil && in.Found:
		m.notes = append(m.notes, Note{File: in.Name, Path: ".", Fate: Todo, What: "cannot be read and is left out: " + oneLine(strings.TrimPrefix(err.Error(), in.Name+": "))})
		return nil
	case err != nil:
		return err
	case in.Found && !slices.ContainsFunc(roots, holdsComponents):
		return nil
	}
	m.from = append(m.from, in.Name)
	m.notes = append(m.notes, notes...)
	for _, root := range roots {
		m.roots = append(m.roots, root)
		m.number(root)
		m.collect(root)
	}
	return nil
}

// holdsComponents says whether a file found in a folder is one of the project's:
// it has a component that names its type, sections of components, or an agent.
func holdsComponents(root *item) bool {
	switch root.kind {
	case list:
		return slices.ContainsFunc(root.items, holdsComponents)
	case object:
		return kindsByType[root.at("type").peek()] != "" || isProject(root) || likely(root) == anAgent || root.at("llm_id") != nil || root.at("client_id") != nil
	default:
		return false
	}
}

// number remembers the order of places.
func (m *project) number(it *item) {
	m.order[it.file+"\x00"+it.path] = len(m.order)
	for _, sub := range it.items {
		m.number(sub)
	}
}

// collect takes components out of a list, a project file or a component.
func (m *project) collect(root *item) {
	switch {
	case root.kind == list:
		for _, it := range root.items {
			if it.kind == object {
				m.collect(it)
			}
		}
	case root.kind != object:
	case kindsByType[root.at("type").peek()] != "":
		m.add(kindsByType[root.at("type").word()], "", root)
	case isProject(root):
		m.project(root)
	default:
		if kind := likely(root); kind != anOddity {
			m.add(kind, "", root)
		} else if root.at("type") != nil {
			m.add(anOddity, "", root)
		}
	}
}

// isProject says whether an object has sections of components.
func isProject(it *item) bool {
	if it.at("host").peek() == "" && it.at("host") != nil {
		return true
	}
	return slices.ContainsFunc(sections, func(s struct{ key, kind string }) bool {
		at := it.at(s.key)
		return at != nil && (at.kind == object || slices.ContainsFunc(at.items, func(sub *item) bool { return sub.kind == object }))
	})
}

// project takes the components out of a project file.
func (m *project) project(root *item) {
	if name := root.at("name"); name != nil && m.title == "" {
		m.title = sentence(name.peek())
		m.note(name, Changed, "a project is a folder here, and each agent has a name of its own")
	}
	m.note(root.at("description"), Dropped, "a project has no description here")
	if host := root.at("host"); host != nil && host.kind == object {
		m.project(host)
	}
	for _, s := range sections {
		at := root.at(s.key)
		if at == nil {
			continue
		}
		for i, it := range at.items {
			switch {
			case it.kind == object && at.kind == object:
				m.add(s.kind, at.keys[i], it)
			case it.kind == object:
				m.add(s.kind, "", it)
			case it.kind == text:
				m.refs = append(m.refs, it)
			}
		}
	}
}

// likely is what a component without type is, by its keys.
func likely(it *item) string {
	for _, sign := range []struct{ key, kind string }{
		{"llm_id", anLLM},
		{"provider", anLLM},
		{"client_id", aServer},
		{"server_path", aServer},
		{"http_endpoint", aServer},
		{"command", aServer},
		{"test_cases", anEval},
		{"module_path", aScript},
		{"nodes", aGraph},
		{"steps", aLine},
		{"system_prompt", anAgent},
		{"llm_config_id", anAgent},
		{"client_ids", anAgent},
		{"mcp_servers", anAgent},
	} {
		if it.at(sign.key) != nil {
			return sign.kind
		}
	}
	return anOddity
}

// add takes over a component, unless there is one of its kind and name.
func (m *project) add(kind, key string, it *item) {
	if len(m.parts) > mostParts {
		return // which is an error in the end
	}
	name := key
	for _, k := range []string{"name", "llm_id", "client_id"} {
		if own := it.at(k).word(); own != "" {
			name = own
		}
	}
	if t := it.at("type"); t != nil && kindsByType[t.peek()] == kind {
		t.take()
	}
	if name == "" {
		name = fmt.Sprintf("%s-%d", strings.ReplaceAll(kind, "_", "-"), len(m.of(kind))+1)
		if kind != anOddity {
			m.remind(it.file, it.path, Changed, "it has no name and is called %s here", name)
		}
	}
	if kind != anOddity && m.find(name, kind) != nil {
		m.note(it, Dropped, "there is a component of this kind and name already: the first counts")
		return
	}
	m.parts = append(m.parts, &component{kind: kind, name: name, it: it})
}
