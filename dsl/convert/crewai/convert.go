package crewai

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/pexctl/pex/dsl/convert"
	"github.com/pexctl/pex/dsl/convert/internal/draft"
	"github.com/pexctl/pex/dsl/convert/internal/tree"
)

// Convert converts a crew: its agents and tasks, in one file or two. If only one
// of them is given, the other one is read from beside it.
func Convert(in convert.Input, others ...convert.Input) (convert.Result, error) {
	c := &crew{inputs: map[string]*draft.Agent{}}
	all := append([]convert.Input{in}, others...)
	for _, file := range all {
		if err := c.read(file); err != nil {
			return convert.Result{}, err
		}
	}
	c.readBeside(all[0])
	if len(c.agents) == 0 {
		return convert.Result{}, fmt.Errorf("%s: not a CrewAI crew: no agent with a role and a goal", in.Name)
	}
	c.convert(in)
	for _, root := range c.roots {
		c.NoteUnused(root, "a spec has nothing like it")
	}
	file, err := c.File("spec.yaml")
	if err != nil {
		return convert.Result{}, fmt.Errorf("%s: %w", in.Name, err)
	}
	return convert.Result{Name: c.Root.ID, Files: []convert.File{file}, Notes: c.Sorted(c.roots...)}, nil
}

// crew is one conversion.
type crew struct {
	draft.Spec
	roots  []*tree.Value
	agents []*part
	tasks  []*part
	inputs map[string]*draft.Agent
}

// part is an agent or a task.
type part struct {
	name, id string
	it       *tree.Value
	agent    *draft.Agent // of an agent
}

// read takes the agents and tasks out of a file.
func (c *crew) read(in convert.Input) error {
	roots, notes, err := tree.ReadAny(in)
	switch {
	case err != nil && in.Found:
		c.NoteAt(in.Name, ".", convert.Todo, "the file cannot be read: %s", tree.OneLine(strings.TrimPrefix(err.Error(), in.Name+": ")))
		return nil
	case err != nil:
		return err
	}
	root := roots[0]
	if schema := root.Get("schema").Peek(); strings.HasPrefix(schema, "crewai.flow/") {
		return fmt.Errorf("%s: a CrewAI flow cannot be converted: convert the crews that it calls, and write their order as a graph", in.Name)
	}
	sections := []*tree.Value{root, root.Get("agents"), root.Get("tasks")}
	before := len(c.agents) + len(c.tasks)
	for _, at := range sections {
		c.collect(at)
	}
	if len(c.agents)+len(c.tasks) > before || !in.Found {
		c.roots = append(c.roots, root)
		c.Notes = append(c.Notes, notes...)
	}
	return nil
}

// collect takes agents and tasks out of a mapping or list of them.
func (c *crew) collect(at *tree.Value) {
	if at == nil {
		return
	}
	for i, it := range at.Items {
		name := it.Get("name").Peek()
		if at.Kind == tree.Object {
			name = at.Keys[i]
		}
		if name == "" {
			name = it.Get("role").Peek()
		}
		switch {
		case it.Kind != tree.Object:
		case it.Get("role") != nil && it.Get("goal") != nil:
			it.Get("name").Use()
			c.agents = append(c.agents, &part{name: name, it: it})
		case it.Get("expected_output") != nil && it.Get("description") != nil:
			it.Get("name").Use()
			c.tasks = append(c.tasks, &part{name: name, it: it})
		}
	}
}

// readBeside reads the tasks of agents, or the agents of tasks, from the same folder.
func (c *crew) readBeside(in convert.Input) {
	name := ""
	switch {
	case in.Open == nil || in.Found:
		return
	case len(c.tasks) == 0:
		name = "tasks.yaml"
	case len(c.agents) == 0:
		name = "agents.yaml"
	default:
		return
	}
	if text, err := in.Open(name); err == nil {
		_ = c.read(convert.Input{Name: path.Join(path.Dir(in.Name), name), Text: text, Found: true}) // a broken file becomes a note
	}
}

// convert writes the agents, and the tasks as a graph.
func (c *crew) convert(in convert.Input) {
	c.Comment = fmt.Sprintf("CrewAI crew, imported from %s by pexctl.", tree.OneLine(path.Base(in.Name)))
	taken := map[string]bool{}
	for _, a := range c.agents {
		a.id = tree.UniqueName(tree.Identifier(a.name, "agent"), taken)
		c.agent(a)
	}
	c.Root = &draft.Agent{ID: c.name(in)}
	if len(c.tasks) == 0 {
		c.withoutTasks()
		return
	}
	for _, a := range c.agents {
		c.Agents = append(c.Agents, a.agent)
	}
	nodes := map[string]bool{"end": true}
	for i, t := range c.tasks {
		t.id = tree.UniqueName(tree.Identifier(t.name, "task"), nodes)
		c.task(i, t)
	}
	c.Parameters = append(tree.Map{{Key: "question", Value: tree.Map{{Key: "type", Value: "string"}, {Key: "default", Value: ""}}}}, c.Parameters...)
	last := c.Root.Nodes[len(c.Root.Nodes)-1].(tree.Map).Get("id").(string)
	c.NoteAt(c.tasks[0].it.File, ".", convert.Changed, "the tasks run in the order of the file, and the result of %s is the answer; a hierarchical process has no counterpart", last)
}

// name returns the name of the spec: that of the folder around config, or of the
// file.
func (c *crew) name(in convert.Input) string {
	if in.As != "" {
		return tree.Identifier(in.As, "crew")
	}
	dir := path.Dir(in.Name)
	if path.Base(dir) == "config" {
		dir = path.Dir(dir)
	}
	if base := path.Base(dir); base != "." && base != "/" && base != ".." {
		return tree.Identifier(base, "crew")
	}
	return "crew"
}

// withoutTasks makes the only agent the spec, or has one call them all.
func (c *crew) withoutTasks() {
	if len(c.agents) == 1 {
		id := c.Root.ID
		c.Root = c.agents[0].agent
		if id != "crew" {
			c.Root.ID = id
		}
		c.Parameters, c.Root.Parameters = c.Root.Parameters, nil
		return
	}
	c.NoteAt(c.agents[0].it.File, ".", convert.Todo, "no file defines tasks, with description and expected_output: the spec has a coordinator that asks the agents; give the file of the tasks too")
	c.Root.LLM = c.agents[0].agent.LLM
	c.Root.System = "Answer the question. Ask the agents that you have as tools for what they know."
	for _, a := range c.agents {
		c.Agents = append(c.Agents, a.agent)
		tool := tree.Map{{Key: "type", Value: "agent"}, {Key: "ref", Value: "#" + a.id}}
		tool.Put("description", a.agent.Description)
		tool.Put("approval", "never")
		c.Root.Tools = append(c.Root.Tools, c.AddTool(a.id, tool))
	}
}

// assigned returns the agent of a task. If the file names none, it is the agent
// with the most similar name, or else the one at the same position.
func (c *crew) assigned(i int, t *part) *part {
	at := t.it.Get("agent")
	name := at.UseText()
	if j := slices.IndexFunc(c.agents, func(a *part) bool { return a.name == name || a.it.Get("role").Peek() == name }); j >= 0 && name != "" {
		return c.agents[j]
	}
	best, most := c.agents[min(i, len(c.agents)-1)], 0
	for _, a := range c.agents {
		if n := sharedWords(a.name, t.name); n > most {
			best, most = a, n
		}
	}
	if len(c.agents) > 1 {
		c.NoteAt(t.it.File, t.it.Path, convert.Todo, "the file names no agent of the task, as crews often do that in Python: it was given to %s; check agent at the node %s", best.id, t.id)
	}
	return best
}

// sharedWords counts the characters of words that two names have in common.
func sharedWords(a, b string) (n int) {
	words := strings.FieldsFunc(strings.ToLower(b), func(r rune) bool { return r == '_' || r == '-' || r == ' ' })
	for w := range strings.FieldsFuncSeq(strings.ToLower(a), func(r rune) bool { return r == '_' || r == '-' || r == ' ' }) {
		if slices.ContainsFunc(words, func(o string) bool { return o == w || len(w) > 4 && len(o) > 4 && o[:5] == w[:5] }) && w != "agent" && w != "task" {
			n += len(w)
		}
	}
	return n
}
