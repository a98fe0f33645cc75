package draft

import (
	"strings"

	"github.com/pexctl/pex/dsl/convert/internal/tree"
)

// Agent is a loop of a model and its tools, or a graph of other agents.
type Agent struct {
	ID          string
	Description string
	LLM         string // an entry of llms; "" means the only one
	System      string // the system prompt, a template
	Prompt      string // the user prompt of an agent without tools, a template; "" means the question
	Tools       []any  // names and globs
	Iterations  int    // maximum number of model calls; 0 means the default
	Output      any    // JSON Schema of the answer; nil means text
	Datetime    bool   // the system prompt has the time
	Parameters  tree.Map
	Nodes       []any // of a graph of other agents
	Edges       []any
}

// body returns the keys of a spec that make the agent.
func (a *Agent) body(s *Spec) (out tree.Map) {
	loop := len(a.Tools) > 0
	if a != s.Root {
		out.Put("parameters", a.Parameters)
	}
	if a.Datetime {
		out.Put("inject_datetime", true)
	}
	if len(s.LLMs) > 1 {
		llm := a.LLM
		if llm == "" {
			llm = s.LLMs[0].Key
		}
		out.PutCommented("planner", tree.Map{{Key: "llm", Value: llm}}, "No node plans; the other roles use the planner's llm.")
	}
	nodes, edges := a.Nodes, a.Edges
	switch {
	case len(nodes) > 0:
	case loop:
		executor := tree.Map{}
		executor.Put("executor_system_prompt", a.System)
		executor.Put("tools", a.Tools)
		executor.Put("on_step_error", "fail")
		out.Put("executor", executor)
		limits := tree.Map{{Key: "max_steps", Value: 1}}
		if a.Iterations > 0 {
			limits.Put("executor_max_iterations", a.Iterations)
		}
		out.Put("limits", limits)
		nodes = []any{node("work", "executor")}
		edges = []any{edge("work", "end")}
		if a.Output != nil {
			nodes = append(nodes, node("answer", "finalizer"))
			edges = []any{edge("work", "answer"), edge("answer", "end")}
			out.Put("finalizer", tree.Map{{Key: "system_prompt", Value: systemOr(a.System)}})
		}
	default:
		prompt := a.Prompt
		if prompt == "" {
			prompt = "${parameters.question}"
		}
		out.Put("finalizer", tree.Map{{Key: "system_prompt", Value: systemOr(a.System)}, {Key: "finalizer_prompt_template", Value: prompt}})
		nodes = []any{node("answer", "finalizer")}
		edges = []any{edge("answer", "end")}
	}
	if a.Output != nil {
		out.Put("output", tree.Map{{Key: "schema", Value: a.Output}})
	}
	if !loop {
		out.Put("memory", tree.Map{{Key: "backend", Value: "none"}})
	}
	out.Put("graph", tree.Map{{Key: "nodes", Value: nodes}, {Key: "edges", Value: edges}})
	return out
}

// systemOr returns the system prompt, or a short one in place of the default,
// which is about plans.
func systemOr(s string) string {
	if s == "" {
		return "Answer the question."
	}
	return s
}

func node(id, kind string) tree.Map {
	return tree.Map{{Key: "id", Value: id}, {Key: "type", Value: kind}}
}

func edge(from, to string) tree.Map {
	return tree.Map{{Key: "from", Value: from}, {Key: "to", Value: to}}
}

// Chain adds a node that runs an agent after those before it. question is its
// template; "" means the question of the run.
func (a *Agent) Chain(id, agent, question string, parameters tree.Map) {
	n := node(id, "agent")
	n.Put("agent", "#"+agent)
	n.Put("on_error", "fail")
	n.Put("question", question)
	n.Put("parameters", parameters)
	if len(a.Nodes) > 0 {
		last := a.Nodes[len(a.Nodes)-1].(tree.Map).Get("id").(string)
		a.Edges[len(a.Edges)-1] = edge(last, id)
	}
	a.Nodes = append(a.Nodes, n)
	a.Edges = append(a.Edges, edge(id, "end"))
}

// Join adds a node that joins the results of nodes to the answer.
func (a *Agent) Join(id string, from []string) {
	var results []string
	for _, n := range from {
		results = append(results, "${steps."+n+".result}")
	}
	n := node(id, "transform")
	n.Put("template", strings.Join(results, "\n\n"))
	a.Edges[len(a.Edges)-1] = edge(from[len(from)-1], id)
	a.Nodes = append(a.Nodes, n)
	a.Edges = append(a.Edges, edge(id, "end"))
}

// Repeat returns from the last node to an earlier one while a condition holds.
func (a *Agent) Repeat(to, when string) {
	last := a.Nodes[len(a.Nodes)-1].(tree.Map).Get("id").(string)
	back := append(edge(last, to), tree.Entry{Key: "when", Value: when})
	a.Edges = append(a.Edges[:len(a.Edges)-1], back, edge(last, "end"))
}
