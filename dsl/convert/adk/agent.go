package adk

import (
	"slices"
	"strings"

	"github.com/pexctl/pex/dsl/convert"
	"github.com/pexctl/pex/dsl/convert/internal/draft"
	"github.com/pexctl/pex/dsl/convert/internal/tree"
	"github.com/pexctl/pex/engine/text"
)

// reasons explains keys without a counterpart.
var reasons = map[string]string{
	"disallow_transfer_to_parent": "an agent never transfers to its caller: it answers it",
	"disallow_transfer_to_peers":  "an agent calls those that it has as tools, and no other",
	"include_contents":            "an agent gets the question that it is asked, not the conversation of its caller",
	"input_schema":                "it is Python: write parameters of the agent",
	"output_schema":               "it is Python: write output.schema of the agent",
	"planner":                     "give the spec planner and executor nodes to have it plan",
	"code_executor":               "add the tool code, which runs programs in Starlark, or python",
	"static_instruction":          "write it at the begin of the system prompt",
	"global_instruction":          "write it at the begin of each system prompt",
}

// agent converts one config.
func (c *project) agent(a *draft.Agent, file string, it *tree.Value, inherited model) {
	a.ID = tree.UniqueName(tree.Identifier(it.Get("name").UseText(), "agent"), c.usedNames)
	a.Description = tree.Sentence(c.UseRedacted(it.Get("description")))
	class := it.Get("agent_class").UseText()
	switch class = class[strings.LastIndexByte(class, '.')+1:]; class {
	case "", "LlmAgent", "Agent":
		c.loop(a, file, it, inherited)
	case "SequentialAgent", "ParallelAgent", "LoopAgent":
		c.flow(a, class, file, it, inherited)
	default:
		c.NoteAt(it.File, it.Path+".agent_class", convert.Todo, "the class %q is Python: replace the agent", tree.Clip(class))
		c.loop(a, file, it, inherited)
	}
	for _, key := range it.Keys {
		switch why := reasons[key]; {
		case strings.HasSuffix(key, "_callbacks"):
			c.Note(it.Get(key), convert.Dropped, "callbacks are Python: guards decide before and after tool calls, and pexctl run --events reports what happens")
		case why != "":
			c.Note(it.Get(key), convert.Dropped, "%s", why)
		}
	}
	c.NoteUnused(it, "an agent has nothing like it")
}

// loop converts an LLM agent.
func (c *project) loop(a *draft.Agent, file string, it *tree.Value, inherited model) {
	a.LLM = c.llm(it, inherited)
	a.System = c.instruction(a, it.Get("instruction"))
	for i := range list(it.Get("tools")) {
		if name := c.tool(file, it.Get("tools").Items[i], model{a.LLM}); name != "" {
			a.Tools = append(a.Tools, name)
		}
	}
	subs := list(it.Get("sub_agents"))
	for _, sub := range subs {
		if called := c.sub(file, sub, model{a.LLM}); called != nil {
			a.Tools = append(a.Tools, c.call(called))
		}
	}
	if len(subs) > 0 {
		c.NoteAt(it.File, it.Get("sub_agents").Path, convert.Changed, "a transfer is a tool call: the sub-agent answers this agent, which then continues")
	}
	it.Get("output_key").Use()
}

// sub converts an entry of sub_agents; it returns nil if there is no counterpart.
func (c *project) sub(file string, it *tree.Value, inherited model) *draft.Agent {
	if at := it.Get("config_path"); at != nil {
		return c.refer(file, at, inherited)
	}
	c.Note(it, convert.Todo, "the sub-agent is Python: write it as an agent of the spec")
	return nil
}

// call adds the tool that runs another agent and returns its name.
func (c *project) call(a *draft.Agent) string {
	tool := tree.Map{{Key: "type", Value: "agent"}, {Key: "ref", Value: "#" + a.ID}}
	tool.Put("description", a.Description)
	tool.Put("approval", "never")
	return c.AddTool(a.ID, tool)
}

// variable matches a value of the session's state in an instruction.
var variable = text.Regexp(`\{\{?([A-Za-z_][A-Za-z0-9_]*)\??\}?\}`)

// instruction converts an instruction; values of the state become parameters.
func (c *project) instruction(a *draft.Agent, it *tree.Value) string {
	text := tree.EscapeReferences(strings.TrimRight(c.UseRedacted(it), "\n "))
	noted := false
	return variable().ReplaceAllStringFunc(text, func(s string) string {
		name := variable().FindStringSubmatch(s)[1]
		if !a.Parameters.Has(name) {
			a.Parameters.Put(name, tree.Map{{Key: "type", Value: "string"}, {Key: "default", Value: ""}})
		}
		if !noted {
			c.NoteAt(it.File, it.Path, convert.Changed, "values of the session's state are parameters of the agent")
			noted = true
		}
		return "${parameters." + name + "}"
	})
}

// llm returns the LLM of an agent: its own, or that of the agent above.
func (c *project) llm(it *tree.Value, inherited model) string {
	at := it.Get("model")
	name := at.UseText()
	if code := it.Get("model_code"); code != nil {
		at, name = code, argument(code, "model").UseText()
		code.Get("name").Use()
	}
	config := it.Get("generate_content_config")
	if name == "" && inherited.llm != "" && config == nil {
		return inherited.llm
	}
	var id string
	var entry tree.Map
	switch {
	case name == "" && inherited.llm != "":
		entry = slices.Clone(c.LLMs.Get(inherited.llm).(tree.Map))
		id = inherited.llm
	case name == "":
		c.NoteAt(it.File, it.Path, convert.Todo, "the agent names no model: replace %s under llms", draft.Placeholder)
		entry = tree.Map{{Key: "provider", Value: "googleai"}, {Key: "model", Value: draft.Placeholder}}
		id = "main"
	default:
		id, entry = c.ParseModel(at, name)
	}
	c.Settings(&entry, config, map[string]string{"temperature": "temperature", "top_p": "top_p", "max_output_tokens": "max_output_tokens", "seed": "seed"})
	if config != nil {
		c.NoteUnused(config, "it has no counterpart: what one provider alone has goes under options of the llm")
	}
	return c.AddLLM(id, entry)
}

// list returns the items of a list; of nothing, none.
func list(it *tree.Value) []*tree.Value {
	if it == nil || it.Kind != tree.List {
		return nil
	}
	return it.Items
}

// argument returns an argument of a class or function: a member of args, or the
// entry of that name in a list.
func argument(it *tree.Value, name string) *tree.Value {
	args := it.Get("args")
	if args == nil || args.Kind == tree.Object {
		return args.Get(name)
	}
	for _, arg := range args.Items {
		if arg.Get("name").Peek() == name {
			arg.Get("name").Use()
			return arg.Get("value")
		}
	}
	return nil
}
