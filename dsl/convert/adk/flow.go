package adk

import (
	"fmt"
	"strings"

	"github.com/pexctl/pex/dsl/convert"
	"github.com/pexctl/pex/dsl/convert/internal/draft"
	"github.com/pexctl/pex/dsl/convert/internal/tree"
)

// defaultRounds is the number of iterations of a loop without max_iterations.
const defaultRounds = 3

// flow converts a workflow agent to a graph of agent nodes.
func (c *project) flow(a *draft.Agent, class, file string, it *tree.Value, inherited model) {
	nodes := map[string]bool{"end": true}
	var subs []workflowNode
	for _, sub := range list(it.Get("sub_agents")) {
		if agent := c.sub(file, sub, inherited); agent != nil {
			subs = append(subs, workflowNode{tree.UniqueName(agent.ID, nodes), agent, c.outputKey(file, sub)})
		}
	}
	var order []string
	for i, sub := range subs {
		question := ""
		if class != "ParallelAgent" && i > 0 {
			question = "${parameters.question}\n\nResult of " + subs[i-1].node + ":\n${steps." + subs[i-1].node + ".result}"
		}
		var parameters tree.Map
		for _, p := range sub.agent.Parameters {
			value, own := state(class, subs, i, p.Key)
			if own {
				a.Parameters.Put(p.Key, p.Value)
			}
			parameters.Put(p.Key, value)
		}
		a.Chain(sub.node, sub.agent.ID, question, parameters)
		order = append(order, sub.node)
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

// workflowNode is a node of a workflow: the agent that it runs, and the key of the
// state that the agent writes; "" if none.
type workflowNode struct {
	node  string
	agent *draft.Agent
	key   string
}

// state returns a template for the value of a state key at a node: the result of
// the last node that writes it (in a loop possibly a later node), or else a
// parameter of the workflow.
func state(class string, subs []workflowNode, at int, key string) (template string, own bool) {
	template = "${parameters." + key + ":-}"
	if class == "ParallelAgent" {
		return template, true
	}
	for i := at - 1; i >= 0; i-- {
		if subs[i].key == key {
			return "${steps." + subs[i].node + ".result}", false
		}
	}
	if class == "LoopAgent" {
		for i := len(subs) - 1; i >= at; i-- {
			if subs[i].key == key {
				return "${steps." + subs[i].node + ".result:-" + template + "}", true
			}
		}
	}
	return template, true
}

// outputKey returns the state key that the agent of an entry of sub_agents
// writes.
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
