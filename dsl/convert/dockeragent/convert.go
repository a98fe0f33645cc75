package dockeragent

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/pexctl/pex/dsl/convert"
	"github.com/pexctl/pex/dsl/convert/internal/draft"
	"github.com/pexctl/pex/dsl/convert/internal/tree"
	"github.com/pexctl/pex/engine/text"
)

// Convert converts a configuration. It has one file; others is empty.
func Convert(in convert.Input, others ...convert.Input) (convert.Result, error) {
	roots, notes, err := tree.ReadAny(in)
	if err != nil {
		return convert.Result{}, err
	}
	agents := roots[0].Get("agents")
	if agents == nil || len(agents.Items) == 0 || agents.Items[0].Kind != tree.Object {
		return convert.Result{}, fmt.Errorf("%s: not a docker agent file: it has no agents", in.Name)
	}
	c := &config{root: roots[0], ids: map[string]string{}, llms: map[string]string{}, cut: map[*tree.Value]bool{}}
	c.Notes = notes
	c.readAgents(agents)
	c.spec(in)
	c.root.Get("version").Use()
	c.noteDropped(c.root, topReasons)
	c.NoteUnused(c.root, "a spec has nothing like it")
	file, err := c.File("spec.yaml")
	if err != nil {
		return convert.Result{}, fmt.Errorf("%s: %w", in.Name, err)
	}
	return convert.Result{Name: c.Root.ID, Files: []convert.File{file}, Notes: c.Sorted(c.root)}, nil
}

// config is one conversion.
type config struct {
	draft.Spec
	root  *tree.Value
	names []string // of agents, in order
	its   []*tree.Value
	ids   map[string]string // names to those of the spec
	llms  map[string]string // models to LLMs
	main  int               // the agent that is the spec
	cut   map[*tree.Value]bool
}

// placeholder matches how a configuration refers to an environment variable.
var placeholder = text.Regexp(`\$\{(?:env\.)?([A-Za-z_][A-Za-z0-9_]*)\}|\$([A-Za-z_][A-Za-z0-9_]*)`)

// readAgents reads the names of the agents: keys of a mapping, or name in a list.
func (c *config) readAgents(agents *tree.Value) {
	taken := map[string]bool{}
	for i, it := range agents.Items {
		name := it.Get("name").UseText()
		if agents.Kind == tree.Object {
			name = agents.Keys[i]
		}
		if it.Kind != tree.Object {
			continue
		}
		c.names, c.its = append(c.names, name), append(c.its, it)
		c.ids[name] = tree.UniqueName(tree.Identifier(name, "agent"), taken)
	}
}

// spec converts all agents. The one named root, or else the first, is the spec.
func (c *config) spec(in convert.Input) {
	c.main = max(slices.Index(c.names, "root"), 0)
	done := map[int]bool{}
	c.cutCycles(c.main, nil, done)
	for i := range c.its {
		if !done[i] {
			c.cutCycles(i, nil, done)
		}
	}
	c.Comment = fmt.Sprintf("Docker agent, imported from %s by pexctl.", tree.OneLine(path.Base(in.Name)))
	for i, it := range c.its {
		a := c.agent(c.names[i], it)
		if i != c.main {
			c.Agents = append(c.Agents, a)
			continue
		}
		c.Root = a
		switch {
		case in.As != "":
			a.ID = tree.Identifier(in.As, "agent")
		case a.ID == "root":
			a.ID = tree.Identifier(in.BaseName("agent"), "agent")
		}
	}
}

func (c *config) agent(name string, it *tree.Value) *draft.Agent {
	a := &draft.Agent{ID: c.ids[name], Description: tree.Sentence(c.UseRedacted(it.Get("description")))}
	a.LLM = c.llm(it)
	system := strings.TrimRight(c.UseRedacted(it.Get("instruction")), "\n ")
	a.Tools, system = c.toolsets(it, system)
	a.System = tree.EscapeReferences(system)
	a.Tools = append(a.Tools, c.callees(it)...)
	a.Tools = append(a.Tools, c.documents(it)...)
	if n, ok := it.Get("max_iterations").UseInt(); ok && n > 0 {
		a.Iterations = n
	}
	a.Datetime, _ = it.Get("add_date").UseBool()
	if schema := it.Get("structured_output", "schema"); schema != nil && schema.Kind == tree.Object {
		a.Output = schema.Use().Native()
		c.NoteKeys(it.Get("structured_output"), []string{"name", "description"}, convert.Dropped, "output.schema has no name of its own")
		it.Get("structured_output", "strict").Use()
	}
	if at := it.Get("add_prompt_files"); at != nil {
		c.Note(at, convert.Todo, "the contents of these files are not part of the prompt: copy them into prompts: {NAME: {file: ...}} and refer to ${prompts.NAME}")
	}
	if at := it.Get("commands"); at != nil {
		c.Note(at, convert.Dropped, "pex has no named commands: pass the text as the question of pexctl run")
	}
	c.noteDropped(it, agentReasons)
	c.NoteUnused(it, "an agent has nothing like it")
	return a
}

// callKeys are the keys of an agent that name agents which it calls.
var callKeys = []string{"sub_agents", "handoffs"}

// callees returns the tools of sub-agents and handoffs.
func (c *config) callees(it *tree.Value) (out []any) {
	for _, key := range callKeys {
		at := it.Get(key)
		if at == nil {
			continue
		}
		for _, sub := range at.Items {
			i := slices.Index(c.names, sub.UseText())
			switch {
			case i < 0:
				c.Note(sub, convert.Todo, "%q is not an agent of this file: convert it by itself and add a tool {type: agent, ref: FILE}", tree.Clip(sub.Text))
			case c.cut[sub]:
				c.Note(sub, convert.Dropped, "%q already runs this agent: agents of a spec cannot call each other in a cycle", tree.Clip(sub.Text))
			default:
				tool := tree.Map{{Key: "type", Value: "agent"}, {Key: "ref", Value: "#" + c.ids[sub.Text]}}
				tool.Put("description", tree.Sentence(c.its[i].Get("description").Peek()))
				tool.Put("approval", "never")
				if id := c.AddTool(c.ids[sub.Text], tool); !slices.Contains(out, any(id)) {
					out = append(out, id)
				}
			}
		}
		if key == "handoffs" {
			c.NoteAt(at.File, at.Path, convert.Changed, "a handoff is a tool call: the other agent answers this one, which then continues")
		}
	}
	return out
}

// cutCycles finds the calls that close a cycle, as a depth-first walk from an
// agent meets them. open are the agents on the way there.
func (c *config) cutCycles(from int, open []int, done map[int]bool) {
	open = append(open, from)
	for _, key := range callKeys {
		at := c.its[from].Get(key)
		if at == nil {
			continue
		}
		for _, sub := range at.Items {
			to := slices.Index(c.names, sub.Peek())
			switch {
			case to < 0:
			case slices.Contains(open, to), to == c.main:
				c.cut[sub] = true
			case !done[to]:
				c.cutCycles(to, open, done)
			}
		}
	}
	done[from] = true
}

// noteDropped notes keys without a counterpart, each with its reason.
func (c *config) noteDropped(it *tree.Value, reasons []reason) {
	for _, r := range reasons {
		c.Note(it.Get(r.key), r.outcome, "%s", r.why)
	}
}
