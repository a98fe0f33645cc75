package access

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/pexctl/pex/engine/memory"
	"github.com/pexctl/pex/server/agents"
	"github.com/pexctl/pex/server/problem"
)

// Conversation is a conversation, and the agents that use its folder.
type Conversation struct {
	memory.Conversation
	Agents []string
}

// memoriesFor returns the folders of conversations of the client's tenant for an action: those
// that an agent uses, "" = all.
func (c *Client) memoriesFor(do, agent string) ([]agents.Memory, error) {
	if !c.CanForAll(do) { // the memory has the answers of all agents
		return nil, problem.New(problem.Forbidden, "this needs the role %s for all agents", do)
	}
	all := c.Conversations()
	if agent == "" {
		return all, nil
	}
	if _, err := c.Agent(do, agent); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(all, func(m agents.Memory) bool { return !slices.Contains(m.Agents, agent) }), nil
}

// Conversation returns the folder that has a conversation, and its content, for an action. agent
// selects one of several folders that have it; "" = any.
func (c *Client) Conversation(ctx context.Context, do, agent, id string) (found agents.Memory, content memory.Content, err error) {
	memories, err := c.memoriesFor(do, agent)
	if err != nil {
		return found, content, err
	}
	for _, m := range memories {
		read, err := memory.ReadContent(ctx, m, id)
		switch {
		case err != nil:
			return found, content, err
		case read.IsEmpty():
		case found.Archive != nil:
			return found, content, problem.New(problem.InvalidRequest, "several folders have a conversation %q; add ?agent=NAME with an agent that uses it: %s", id, oneOfAgents(found, m)).
				With("agents", slices.Concat(found.Agents, m.Agents))
		default:
			found, content = m, read
		}
	}
	if found.Archive == nil {
		err = problem.New(problem.NotFound, "no conversation %q", id)
	}
	return found, content, err
}

// oneOfAgents names the agents that use folders.
func oneOfAgents(all ...agents.Memory) string {
	var names []string
	for _, m := range all {
		names = append(names, m.Agents...)
	}
	return cmp.Or(strings.Join(names, ", "), "none of this server does")
}
