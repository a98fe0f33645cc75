package access

import (
	"context"
	"slices"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/memory"
	"github.com/pexctl/pex/engine/runs"
	"github.com/pexctl/pex/server/agents"
	"github.com/pexctl/pex/server/auth"
	"github.com/pexctl/pex/server/problem"
)

// Client is the client of a request, and the runs that it can see.
type Client struct {
	*Tenant
	identity auth.Identity
	server   *Server
}

// Actor returns the client as the author of decisions.
func (c *Client) Actor() engine.Actor {
	if c.server.Owner != nil {
		return *c.server.Owner
	}
	id := c.identity
	return engine.Actor{User: id.Subject, Issuer: id.Issuer, Roles: id.Roles, Tenant: id.Tenant}
}

// Can reports whether the client may perform an action on runs of an agent; nil = no agent
// of this server.
func (c *Client) Can(do string, a *agents.Agent) bool {
	if a == nil {
		return auth.Can(c.identity, do, nil)
	}
	return auth.Can(c.identity, do, a.Roles)
}

// Agents returns the agents that the tenant of the client has.
func (c *Client) Agents() *agents.Set {
	if c.Tenant.Agents != nil {
		return c.Tenant.Agents
	}
	return c.server.Agents
}

// Agent returns an agent, for an action on it. An agent that the client may not view does
// not exist for it.
func (c *Client) Agent(do, name string) (*agents.Agent, error) {
	a, ok := c.Agents().Get(name)
	if !ok || !c.Can(auth.View, a) && !c.Can(do, a) {
		return nil, problem.New(problem.NotFound, "no agent %q; GET /v1/agents lists the agents", name)
	}
	return a, c.Permit(do, a)
}

// Exposed returns an agent, for an action on it by a protocol. An agent that is not exposed by
// the protocol does not exist for its clients.
func (c *Client) Exposed(do, name, protocol string) (*agents.Agent, error) {
	a, err := c.Agent(do, name)
	if err == nil && !a.Exposes(protocol) {
		return nil, problem.New(problem.NotFound, "no agent %q here: its expose in the server file does not contain %s", name, protocol)
	}
	return a, err
}

// Permit returns a problem unless the client may perform an action on runs of an agent.
func (c *Client) Permit(do string, a *agents.Agent) error {
	if c.Can(do, a) {
		return nil
	}
	return problem.New(problem.Forbidden, "this needs the role %s", do)
}

// noRun is the problem of a run that does not exist for the client.
func noRun(id string) *problem.Problem { return problem.New(problem.NotFound, "no run %q", id) }

// CheckRun checks that a run exists, and that the client may perform an action on it. A run
// that the client may not view does not exist for it.
func (c *Client) CheckRun(do, id string) error {
	start, err := c.Runs.StartOf(id)
	if err != nil && !c.Can(auth.View, nil) && !c.Can(do, nil) { // it may exist, damaged
		return noRun(id)
	}
	if err != nil {
		return err
	}
	of := Owner{start.Input.Agent, start.Name}
	switch {
	case c.CanFor(do, of):
		return nil
	case c.CanFor(auth.View, of):
		return problem.New(problem.Forbidden, "this needs the role %s", do)
	}
	return noRun(id)
}

// Owner is to what a run belongs.
type Owner struct {
	Agent string // "" = a command started the run
	Spec  string // name of its spec
}

// CanFor reports whether the client may perform an action on a run. The runs of an agent
// that the server no longer has are for admins. Those of commands are for clients who may
// perform the action on all agents with their spec.
func (c *Client) CanFor(do string, of Owner) bool {
	if of.Agent != "" {
		if a, ok := c.Agents().Get(of.Agent); ok {
			return c.Can(do, a)
		}
		return c.Can(auth.Admin, nil)
	}
	found := false
	for _, a := range c.Agents().All() {
		if a.Program.Name == of.Spec {
			if found = true; !c.Can(do, a) {
				return false
			}
		}
	}
	return found || c.Can(auth.Admin, nil)
}

// CanForAll reports whether the client may perform an action on the runs of all agents.
func (c *Client) CanForAll(do string) bool {
	for _, a := range c.Agents().All() {
		if !c.Can(do, a) {
			return false
		}
	}
	return c.Can(do, nil)
}

// checkConversation returns a problem if a conversation has runs, or turns of runs, that the client
// may not view: a run of the conversation would show them to it, and be shown to them.
func (c *Client) checkConversation(ctx context.Context, id string) error {
	if id == "" || c.CanForAll(auth.View) {
		return nil
	}
	hidden := runs.Filter{MemoryID: id, Limit: 1, Match: func(sum runs.Summary) bool { return !c.CanFor(auth.View, Owner{sum.Agent, sum.Spec.Name}) }}
	found, _, err := c.Runs.List(ctx, hidden)
	if err != nil {
		return err
	}
	isHidden := func(in memory.Interaction) bool { return !c.CanFor(auth.View, Owner{Spec: in.Agent}) }
	isClosed := len(found) > 0
	for _, m := range c.Conversations() {
		turns, err := m.History(ctx, id)
		if err != nil {
			return err
		}
		isClosed = isClosed || slices.ContainsFunc(turns, isHidden)
	}
	if isClosed {
		return problem.New(problem.Forbidden, "conversation %q has turns of an agent that this client may not view; use another id", id)
	}
	return nil
}

// Conversations returns the folders of conversations of the client's tenant.
func (c *Client) Conversations() []agents.Memory {
	if c.Memories == nil {
		return nil
	}
	return c.Memories()
}

// AgentOf returns the name of the agent to which a run belongs. A run of a command belongs to
// the first agent with its spec; "" = to none.
func (c *Client) AgentOf(of Owner) string {
	if of.Agent != "" {
		return of.Agent
	}
	for _, a := range c.Agents().All() {
		if a.Program.Name == of.Spec {
			return a.Name
		}
	}
	return ""
}
