package render

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/memory"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/engine/text"
)

// WithHistory is the planner in a conversation with earlier turns.
const WithHistory = "planner_with_history"

// Nodes returns the sorted names of the nodes with prompts, and WithHistory last.
func Nodes(p *engine.Program) []string {
	var names []string
	for id, n := range p.Nodes {
		if _, ok := n.(engine.Prompter); ok {
			names = append(names, id)
		}
	}
	slices.Sort(names)
	return append(names, WithHistory)
}

// Call returns the call that a node would make in a view. name is an id of the graph, a role, or WithHistory; the
// error for an unknown name lists the valid ones. A node whose steps are carried out by another spec makes no call,
// which is an error too.
func Call(v engine.View, name string) (model.Call, error) {
	p, requested := v.Program, name
	if name == WithHistory {
		name, _ = engine.NodeWith[engine.Planner](p)
		if len(v.State.History) == 0 {
			v.State.History = []memory.Interaction{{Question: "(an earlier question)", Answer: "(its answer)", Status: stop.RunCompleted}}
		}
	} else if id, ok := p.NodeOf(name); ok { // the first node of a type
		name = id
	}
	node, ok := p.Nodes[name].(engine.Prompter)
	if !ok {
		return model.Call{}, fmt.Errorf("%s: the nodes with prompts are %s", requested, text.List(Nodes(p)))
	}
	call, err := renderCall(node, v)
	if err != nil {
		return model.Call{}, fmt.Errorf("%s: %w", requested, err)
	}
	if len(call.Messages) == 0 {
		return model.Call{}, fmt.Errorf("%s: it calls no model, because another spec carries out its steps (agent): render that spec", requested)
	}
	return call, nil
}

// renderCall returns the call of a node, or an error if one of its templates is too large.
func renderCall(node engine.Prompter, v engine.View) (call model.Call, err error) {
	defer component.CatchTooLarge(&err)
	if c, ok := node.(engine.Requester); ok {
		return c.Call(v), nil
	}
	return model.Call{Messages: node.Prompt(v)}, nil
}

// Markdown formats messages with a heading for each role.
func Markdown(messages []model.Message) string {
	var b strings.Builder
	for i, m := range messages {
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "## %s\n\n%s\n", m.Role, strings.TrimRight(m.Text.String(), "\n"))
	}
	return b.String()
}
