package adk

import (
	"fmt"
	"path"
	"strings"

	"github.com/pexctl/pex/dsl/convert"
	"github.com/pexctl/pex/dsl/convert/internal/draft"
	"github.com/pexctl/pex/dsl/convert/internal/tree"
)

// maxAgents bounds the agents of one config.
const maxAgents = 200

// Convert converts a config, with the configs that it refers to. Of a project
// folder it converts root_agent.yaml.
func Convert(in convert.Input, others ...convert.Input) (convert.Result, error) {
	in, err := rootOf(append([]convert.Input{in}, others...))
	if err != nil {
		return convert.Result{}, err
	}
	c := &project{dir: path.Dir(in.Name), open: in.Open, ids: map[string]*draft.Agent{}, usedNames: map[string]bool{}}
	root, err := c.read(in)
	if err != nil {
		return convert.Result{}, err
	}
	if root.Get("name") == nil || root.Get("instruction") == nil && root.Get("agent_class") == nil {
		return convert.Result{}, fmt.Errorf("%s: not an ADK agent config: an agent has a name, and an instruction or an agent_class", in.Name)
	}
	c.Comment = fmt.Sprintf("ADK agent, imported from %s by pexctl.", tree.OneLine(path.Base(in.Name)))
	c.Root = &draft.Agent{}
	c.agent(c.Root, path.Base(in.Name), root, model{})
	if in.As != "" {
		c.Root.ID = tree.Identifier(in.As, "agent")
	}
	c.Parameters = c.Root.Parameters
	file, err := c.File("spec.yaml")
	if err != nil {
		return convert.Result{}, fmt.Errorf("%s: %w", in.Name, err)
	}
	return convert.Result{Name: c.Root.ID, Files: []convert.File{file}, Notes: c.Sorted(c.roots...)}, nil
}

// rootOf returns the config of the root agent: the only file or, of a folder, the
// root_agent.yaml nearest to it.
func rootOf(all []convert.Input) (convert.Input, error) {
	best := convert.Input{}
	for _, in := range all {
		name := strings.TrimSuffix(path.Base(in.Name), path.Ext(in.Name))
		if !in.Found {
			return in, nil
		}
		if name == "root_agent" && (best.Name == "" || strings.Count(in.Name, "/") < strings.Count(best.Name, "/")) {
			best = in
		}
	}
	if best.Name == "" {
		return best, fmt.Errorf("%s: the folder has no root_agent.yaml: give the file of the agent", path.Dir(all[0].Name))
	}
	best.As, best.Found = all[0].As, false
	return best, nil
}

// project is one conversion.
type project struct {
	draft.Spec
	dir       string // of the root agent's file
	open      func(string) ([]byte, error)
	ids       map[string]*draft.Agent // by file; nil while being converted
	usedNames map[string]bool         // names of agents
	roots     []*tree.Value
}

// model is what an agent inherits from the one above it.
type model struct{ llm string }

func (c *project) read(in convert.Input) (*tree.Value, error) {
	roots, notes, err := tree.ReadAny(in)
	if err != nil {
		return nil, err
	}
	c.Notes = append(c.Notes, notes...)
	c.roots = append(c.roots, roots[0])
	return roots[0], nil
}

// refer converts the agent that a config_path names. If there is none, it adds a
// note and returns nil. from is the file that contains the reference.
func (c *project) refer(from string, at *tree.Value, inherited model) *draft.Agent {
	file := path.Join(path.Dir(from), at.UseText())
	if a, ok := c.ids[file]; ok {
		if a == nil {
			c.Note(at, convert.Dropped, "%s already runs this agent: agents of a spec cannot call each other in a cycle", tree.Clip(file))
		}
		return a
	}
	if len(c.ids) >= maxAgents || c.open == nil {
		c.Note(at, convert.Todo, "the file was not read: convert the folder of the agent")
		return nil
	}
	text, err := c.open(file)
	if err != nil {
		c.Note(at, convert.Todo, "the file cannot be read: %s", tree.OneLine(err.Error()))
		return nil
	}
	root, err := c.read(convert.Input{Name: path.Join(c.dir, file), Text: text})
	if err != nil {
		c.Note(at, convert.Todo, "the file cannot be read: %s", tree.OneLine(err.Error()))
		return nil
	}
	c.ids[file] = nil
	a := &draft.Agent{}
	c.agent(a, file, root, inherited)
	c.ids[file] = a
	c.Agents = append(c.Agents, a)
	return a
}
