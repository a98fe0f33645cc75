package adk

import (
	"fmt"
	"strings"

	"github.com/pexctl/pex/dsl/convert"
	"github.com/pexctl/pex/dsl/convert/internal/draft"
	"github.com/pexctl/pex/dsl/convert/internal/tree"
)

// defaultRounds is how often a loop without max_iterations runs.
const defaultRounds = 3

// flow converts a workflow agent to a graph of agent nodes.
func (c *project) flow(a *draft.Agent, class, file string, it *tree.Value, inherited model) {
	results := map[string]string{} // state keys to nodes
	nodes := map[string]bool{"end": true}
	var order []string
	for _, sub := range list(it.Get("sub_agents")) {
		called := c.sub(file, sub, inherited)
		if called == nil {
			continue
		}
		id := tree.UniqueName(called.ID, nodes)
		question := ""
		if class != "ParallelAgent" && len(order) > 0 {
			last := order[len(order)-1]
			question = "${parameters.question}\n\nResult of " + last + ":\n${steps." + last + ".result}"
		}
		var parameters tree.Map
		for _, p := range called.Parameters {
			switch from := results[p.Key]; {
			case from != "" && class != "ParallelAgent":
				parameters.Put(p.Key, "${steps."+from+".result}")
			default:
				parameters.Put(p.Key, "${parameters."+p.Key+":-}")
				a.Parameters.Put(p.Key, p.Value)
			}
		}
		a.Chain(id, called.ID, question, parameters)
		order = append(order, id)
		if key := c.outputKey(file, sub); key != "" {
			results[key] = id
		}
	}
	if len(order) == 0 {
		c.NoteAt(it.File, it.Path, convert.Todo, "none of its sub-agents was converted: the agent answers the question itself")
		a.LLM = c.llm(it, inherited)
		return
	}
	switch class {
	case "ParallelAgent":
		c.NoteAt(it.File, "agent_class", convert.Changed, "the sub-agents run one after the other, each with the question; the answer joins their results")
		a.Join("results", order)
	case "LoopAgent":
		rounds := defaultRounds
		if n, ok := it.Get("max_iterations").UseInt(); ok && n > 0 {
			rounds = n
		}
		c.NoteAt(it.File, "agent_class", convert.Todo, "the loop runs %d times: exit_loop has no counterpart; add what ends it to the condition of the edge back to %s", rounds, order[0])
		a.Repeat(order[0], fmt.Sprintf("run.steps_executed < %d", rounds*len(order)))
	}
}

// outputKey is the state key of the agent that an entry of sub_agents names.
func (c *project) outputKey(from string, sub *tree.Value) string {
	text, err := c.open(join(from, sub.Get("config_path").Peek()))
	if err != nil {
		return ""
	}
	roots, _, err := tree.ReadAny(convert.Input{Name: from, Text: text})
	if err != nil {
		return ""
	}
	return strings.TrimSpace(roots[0].Get("output_key").Peek())
}
