package draft

import (
	"reflect"
	"slices"

	"github.com/pexctl/pex/dsl/convert"
	"github.com/pexctl/pex/dsl/convert/internal/tree"
)

// Spec is a spec under construction. The zero Spec is empty and ready to use.
type Spec struct {
	tree.Log
	Comment    string   // at the top of the file
	LLMs       tree.Map // by AddLLM
	Tools      tree.Map // by AddTool
	Parameters tree.Map
	Prompts    tree.Map
	Root       *Agent
	Agents     []*Agent // others, which Root calls
	Evals      []any    // paths of suites

	toolNames map[string]bool // names of tools
	llms      map[string]bool
}

// AddLLM adds an LLM and returns its name: the given one, or a similar one if
// that names another LLM.
func (s *Spec) AddLLM(name string, entry tree.Map) string {
	if s.llms == nil {
		s.llms = map[string]bool{}
	}
	return add(&s.LLMs, s.llms, tree.Identifier(name, "llm"), entry)
}

// AddTool adds a tool and returns its name: the given one, or a similar one if
// that names another tool.
func (s *Spec) AddTool(name string, entry tree.Map) string {
	if s.toolNames == nil {
		s.toolNames = map[string]bool{}
	}
	name = tree.Identifier(name, "tool")
	if entry.Has("type") && slices.Contains(builtins, name) {
		name += "-" + entry.Get("type").(string) // the name of a builtin would be misleading
	}
	return add(&s.Tools, s.toolNames, name, entry)
}

// builtins are names of builtin tools that agents and servers also use.
var builtins = []string{
	"ask_user", "calculator", "clock", "code", "command", "http", "http_get", "http_request", "json_query", "list_files", "notepad",
	"python", "read_file", "retrieve", "search_files", "sql", "variables", "web_search", "write_file",
}

func add(to *tree.Map, taken map[string]bool, name string, entry tree.Map) string {
	if has, ok := to.Get(name).(tree.Map); ok && reflect.DeepEqual(has, entry) {
		return name
	}
	if entry == nil {
		entry = tree.Map{}
	}
	name = tree.UniqueName(name, taken)
	to.Set(name, entry, "")
	return name
}

// File returns the spec as a file.
func (s *Spec) File(path string) (convert.File, error) {
	var out tree.Map
	out.Put("apiVersion", "pex/v1")
	out.Put("kind", "Agent")
	meta := tree.Map{{Key: "name", Value: s.Root.ID}}
	meta.Put("description", s.Root.Description)
	out.Put("metadata", meta)
	out.Put("parameters", s.Parameters)
	out.Put("llms", s.LLMs)
	out.Put("tools", s.Tools)
	out.Put("prompts", s.Prompts)
	out = append(out, s.Root.body(s)...)
	var agents tree.Map
	for _, a := range s.Agents {
		var m tree.Map
		if a.Description != "" {
			m.Put("metadata", tree.Map{{Key: "description", Value: a.Description}})
		}
		agents.Put(a.ID, append(m, a.body(s)...))
	}
	out.Put("agents", agents)
	out.Put("evals", s.Evals)
	text, err := tree.WriteYAML(s.Comment, out)
	return convert.File{Path: path, Text: text}, err
}
