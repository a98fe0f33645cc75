package crewai

import (
	"slices"
	"strings"

	"github.com/pexctl/pex/dsl/convert"
	"github.com/pexctl/pex/dsl/convert/internal/draft"
	"github.com/pexctl/pex/dsl/convert/internal/tree"
	"github.com/pexctl/pex/engine/text"
)

// input matches an input of the crew in a text.
var input = text.Regexp(`\{([A-Za-z_][A-Za-z0-9_]*)\}`)

// template converts a text with inputs, and returns their names.
func (c *crew) template(it *tree.Value) (text string, inputs []string) {
	text = tree.EscapeReferences(strings.TrimSpace(c.UseRedacted(it)))
	text = input().ReplaceAllStringFunc(text, func(s string) string {
		name := s[1 : len(s)-1]
		if !slices.Contains(inputs, name) {
			inputs = append(inputs, name)
		}
		return "${parameters." + name + "}"
	})
	for _, name := range inputs {
		if name != "question" && !c.Parameters.Has(name) {
			c.Parameters.Put(name, tree.Map{{Key: "type", Value: "string"}, {Key: "required", Value: true}})
		}
	}
	return text, inputs
}

// agentKeys are keys of agents without a counterpart.
var agentKeys = map[string]string{
	"verbose":              "pexctl run shows progress by default",
	"allow_delegation":     "agents do not delegate tasks: to let one agent call another, add a tool of type agent",
	"memory":               "runs of one --memory-id share a conversation",
	"cache":                "results of tools are not cached",
	"max_rpm":              "set rate_limit under the llm",
	"max_execution_time":   "set limits.max_duration",
	"max_retry_limit":      "set retry under the llm",
	"function_calling_llm": "one llm writes text and tool calls",
	"inject_date":          "set inject_datetime: true",
	"knowledge_sources":    "add a tool of type retrieve",
	"reasoning":            "set how much the model thinks under options of the llm",
}

func (c *crew) agent(p *part) {
	it := p.it
	a := &draft.Agent{ID: p.id, LLM: c.llm(it)}
	var inputs []string
	for _, line := range []struct{ key, label string }{{"role", "Your role: "}, {"goal", "Your goal: "}, {"backstory", "Background: "}} {
		text, names := c.template(it.Get(line.key))
		if text == "" {
			continue
		}
		a.System = strings.TrimPrefix(a.System+"\n\n"+line.label+text, "\n\n")
		for _, name := range names {
			if !slices.Contains(inputs, name) {
				inputs = append(inputs, name)
			}
		}
	}
	a.Description = tree.Sentence(it.Get("role").Peek())
	for _, name := range inputs {
		if name != "question" {
			a.Parameters.Put(name, tree.Map{{Key: "type", Value: "string"}, {Key: "required", Value: true}})
		}
	}
	if n, ok := it.Get("max_iter").UseInt(); ok && n > 0 {
		a.Iterations = n
	}
	c.tools(it.Get("tools"))
	for _, key := range it.Keys {
		if why := agentKeys[key]; why != "" {
			c.Note(it.Get(key), convert.Dropped, "%s", why)
		}
	}
	c.NoteUnused(it, "an agent has nothing like it")
	p.agent = a
}

// tools notes the tools of an agent or a task: they are Python.
func (c *crew) tools(at *tree.Value) {
	c.Note(at, convert.Todo, "tools of a crew are Python: add tools of type command, http, mcp or web_search, and name them in executor.tools of the agent")
}

// llm returns the LLM of an agent.
func (c *crew) llm(it *tree.Value) string {
	at := it.Get("llm")
	name := at.UseText()
	var more *tree.Value
	if at != nil && at.Kind == tree.Object {
		more, name = at, at.Get("model").UseText()
	}
	if name == "" {
		if at := c.LLMs.Get("main"); at == nil {
			c.NoteAt(it.File, it.Path, convert.Todo, "the crew's YAML names no llm: replace %s under llms", draft.Placeholder)
		}
		return c.AddLLM("main", tree.Map{{Key: "provider", Value: "openai"}, {Key: "model", Value: draft.Placeholder}})
	}
	id := c.ModelName(tree.First(at.Get("model"), at), name)
	if more != nil {
		entry := c.LLMs.Get(id).(tree.Map)
		c.Settings(&entry, more, map[string]string{"temperature": "temperature", "top_p": "top_p", "max_tokens": "max_output_tokens", "seed": "seed"})
		c.LLMs.Set(id, entry, "")
	}
	return id
}

// taskKeys are keys of tasks without a counterpart.
var taskKeys = map[string]string{
	"async_execution": "nodes run one after the other",
	"output_file":     "the answer is on standard output: redirect it, or give the agent the tool write_file",
	"output_json":     "write output.schema of the agent",
	"output_pydantic": "write output.schema of the agent",
	"human_input":     "add a node of type human after it",
	"guardrail":       "write a guard, or output.ensures of the agent",
	"markdown":        "ask for Markdown in the question",
	"callback":        "pexctl run --events reports what happens",
}

// task adds the node of a task: its agent is asked for the expected output, with
// the results of the tasks in its context, by default all before it.
func (c *crew) task(i int, t *part) {
	a := c.assigned(i, t)
	question, _ := c.template(t.it.Get("description"))
	if want, _ := c.template(t.it.Get("expected_output")); want != "" {
		question += "\n\nExpected output: " + want
	}
	context := c.tasks[:i]
	if at := t.it.Get("context"); at != nil {
		context = nil
		for _, ref := range at.Items {
			name := ref.UseText()
			j := slices.IndexFunc(c.tasks[:i], func(o *part) bool { return o.name == name })
			if j < 0 {
				c.Note(ref, convert.Todo, "no task before this one is called %q", tree.Clip(name))
				continue
			}
			context = append(context, c.tasks[j])
		}
	}
	for _, o := range context {
		question += "\n\nResult of " + o.id + ":\n${steps." + o.id + ".result}"
	}
	var parameters tree.Map
	for _, e := range a.agent.Parameters {
		parameters.Put(e.Key, "${parameters."+e.Key+"}")
	}
	c.Root.Chain(t.id, a.id, question, parameters)
	c.tools(t.it.Get("tools"))
	for _, key := range t.it.Keys {
		if why := taskKeys[key]; why != "" {
			c.Note(t.it.Get(key), convert.Dropped, "%s", why)
		}
	}
	c.NoteUnused(t.it, "a node has nothing like it")
}
