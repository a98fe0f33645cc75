package dsl

import (
	"path/filepath"
	"slices"

	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/dsl/syntax"
)

// otherFormat is a file format of another tool that pexctl import converts.
type otherFormat struct {
	name string // for humans
	arg  string // the argument of pexctl import
	// at returns the entry that identifies the format, or nil for other formats.
	at func(tree *syntax.Node) *syntax.Entry
}

// otherFormats are tried in order.
var otherFormats = []otherFormat{
	{"a docker agent file", "docker-agent", func(tree *syntax.Node) *syntax.Entry {
		return anyEntry(tree.Find("agents"), "instruction", "toolsets", "sub_agents", "handoffs")
	}},
	{"a promptfoo configuration", "promptfoo", func(tree *syntax.Node) *syntax.Entry {
		providers := firstOf(tree, "providers", "targets")
		if providers == nil || tree.Find("prompts") == nil && tree.Find("tests") == nil {
			return nil
		}
		return providers
	}},
	{"a CrewAI file of agents", "crewai", func(tree *syntax.Node) *syntax.Entry { return everyEntry(tree, "role", "goal", "backstory") }},
	{"a CrewAI file of tasks", "crewai", func(tree *syntax.Node) *syntax.Entry { return everyEntry(tree, "description", "expected_output") }},
	{"a CrewAI crew", "crewai", func(tree *syntax.Node) *syntax.Entry { return anyEntry(tree.Find("agents"), "backstory") }},
	{"an ADK agent config", "adk", func(tree *syntax.Node) *syntax.Entry {
		if tree.Find("name") == nil {
			return nil
		}
		if e := tree.Find("agent_class"); e != nil {
			return e
		}
		if tree.Find("model") == nil && tree.Find("sub_agents") == nil && tree.Find("tools") == nil {
			return nil
		}
		return tree.Find("instruction")
	}},
	{"an OpenSearch agent", "opensearch", func(tree *syntax.Node) *syntax.Entry {
		e := tree.Find("type")
		if e == nil || !slices.Contains([]string{"plan_execute_and_reflect", "conversational", "flow", "conversational_flow"}, e.Value.Text) {
			return nil
		}
		return e
	}},
	{"an Aurite file", "aurite", func(tree *syntax.Node) *syntax.Entry {
		e := tree.Find("type")
		if e != nil && slices.Contains([]string{"agent", "llm", "mcp_server", "linear_workflow", "graph_workflow"}, e.Value.Text) && tree.Find("name") != nil {
			return e
		}
		return anyEntry(tree.Find("agents"), "llm_config_id", "mcp_servers", "client_ids")
	}},
}

// foreignFormat reports a file in the format of another tool, instead of all its
// mistakes as a spec. A file with an apiVersion or a kind is a spec.
func (l *loader) foreignFormat(tree *syntax.Node) bool {
	if tree == nil || tree.Kind != syntax.Map || tree.Get("apiVersion") != nil || tree.Get("kind") != nil {
		return false
	}
	for _, f := range otherFormats {
		if e := f.at(tree); e != nil {
			l.Report.Error(diag.WrongKind, e.Position, "this is %s, not a spec", f.name).
				Hint = "convert it: pexctl import " + f.arg + " " + filepath.ToSlash(tree.Position.Source.Name)
			return true
		}
	}
	return false
}

// firstOf returns the first of the keys that a mapping has, or nil.
func firstOf(tree *syntax.Node, keys ...string) *syntax.Entry {
	for _, key := range keys {
		if e := tree.Find(key); e != nil {
			return e
		}
	}
	return nil
}

// anyEntry returns the entry of a mapping or list of mappings if one of those has
// one of the keys.
func anyEntry(e *syntax.Entry, keys ...string) *syntax.Entry {
	if e == nil {
		return nil
	}
	values := e.Value.Items
	for _, sub := range e.Value.Entries {
		values = append(values, sub.Value)
	}
	for _, v := range values {
		if v.Kind == syntax.Map && firstOf(v, keys...) != nil {
			return e
		}
	}
	return nil
}

// everyEntry returns the first entry of a mapping of mappings if each of those
// has all of the keys.
func everyEntry(v *syntax.Node, keys ...string) *syntax.Entry {
	for _, e := range v.Entries {
		if e.Value.Kind != syntax.Map || slices.ContainsFunc(keys, func(key string) bool { return e.Value.Find(key) == nil }) {
			return nil
		}
	}
	if len(v.Entries) == 0 {
		return nil
	}
	return v.Entries[0]
}
