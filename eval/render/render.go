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

// WithHistory is the planner in a conversation that has earlier turns.
const WithHistory = "planner_with_history"

// Nodes lists the nodes that have prompts, by name, WithHistory last.
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

// Call is the call that a node would make in a view. name is an id of the
// graph, a role, or WithHistory; an error lists those that there are. A node
// whose work another spec does makes none, which is an error, too.
func Call(v engine.View, name string) (model.Call, error) {
	p, asked := v.Program, name
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
		return model.Call{}, fmt.Errorf("%s: the nodes with prompts are %s", asked, text.List(Nodes(p)))
	}
	call, err := rendered(node, v)
	if err != nil {
		return model.Call{}, fmt.Errorf("%s: %w", asked, err)
	}
	if len(call.Messages) == 0 {
		return model.Call{}, fmt.Errorf("%s: it asks no model, since another spec carries out its steps (agent): render that one", asked)
	}
	return call, nil
}

// rendered is the call of a node, or why a template of it is too large.
func rendered(node engine.Prompter, v engine.View) (call model.Call, err error) {
	defer component.CatchTooLarge(&err)
	if c, ok := node.(engine.Requester); ok {
		return c.Call(v), nil
	}
	return model.Call{Messages: node.Prompt(v)}, nil
}

// Markdown is messages as people read them: a heading for each role.
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
