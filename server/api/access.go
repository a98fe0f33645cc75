package api

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

// caller is the client of a request, and the runs it can see.
type caller struct {
	*Tenant
	identity auth.Identity
	server   *server
}

// caller returns the client of a request.
func (s *server) caller(ctx context.Context) (*caller, error) {
	id, ok := auth.FromContext(ctx)
	if !ok {
		return nil, problem.New(problem.Unauthorized, "the request has no identity")
	}
	t := s.Tenant(id.Tenant)
	if t == nil {
		return nil, problem.New(problem.NotFound, "no such tenant")
	}
	return &caller{t, id, s}, nil
}

// actor returns the client as the author of decisions.
func (c *caller) actor() engine.Actor {
	id := c.identity
	return engine.Actor{User: id.Subject, Issuer: id.Issuer, Roles: id.Roles, Tenant: id.Tenant}
}

// can reports whether the client may perform an action on runs of an agent; nil = no agent
// of this server.
func (c *caller) can(do string, a *agents.Agent) bool {
	if a == nil {
		return auth.Can(c.identity, do, nil)
	}
	return auth.Can(c.identity, do, a.Roles)
}

// agent returns an agent, for an action on it. An agent that the client may not view does
// not exist for it.
func (c *caller) agent(do, name string) (*agents.Agent, error) {
	a, ok := c.server.Agents.Get(name)
	if !ok || !c.can(auth.View, a) && !c.can(do, a) {
		return nil, problem.New(problem.NotFound, "no agent %q", name)
	}
	return a, c.permit(do, a)
}

// permit returns a problem unless the client may perform an action on runs of an agent.
func (c *caller) permit(do string, a *agents.Agent) error {
	if c.can(do, a) {
		return nil
	}
	return problem.New(problem.Forbidden, "this needs the role %s", do)
}

// noRun is the problem of a run that does not exist for the client.
func noRun(id string) *problem.Problem { return problem.New(problem.NotFound, "no run %q", id) }

// run checks that a run exists, and that the client may perform an action on it. A run
// that the client may not view does not exist for it.
func (c *caller) run(do, id string) error {
	start, err := c.Runs.StartOf(id)
	if err != nil && !c.can(auth.View, nil) && !c.can(do, nil) { // it may exist, damaged
		return noRun(id)
	}
	if err != nil {
		return err
	}
	of := owner{start.Input.Agent, start.Name}
	switch {
	case c.canFor(do, of):
		return nil
	case c.canFor(auth.View, of):
		return problem.New(problem.Forbidden, "this needs the role %s", do)
	}
	return noRun(id)
}

// owner is to what a run belongs.
type owner struct {
	agent string // "" = a command started the run
	spec  string // name of its spec
}

// canFor reports whether the client may perform an action on a run. The runs of an agent
// that the server no longer has are for admins. Those of commands are for clients who may
// perform the action on all agents with their spec.
func (c *caller) canFor(do string, of owner) bool {
	if of.agent != "" {
		if a, ok := c.server.Agents.Get(of.agent); ok {
			return c.can(do, a)
		}
		return c.can(auth.Admin, nil)
	}
	found := false
	for _, a := range c.server.Agents.All() {
		if a.Program.Name == of.spec {
			if found = true; !c.can(do, a) {
				return false
			}
		}
	}
	return found || c.can(auth.Admin, nil)
}

// canForAll reports whether the client may perform an action on the runs of all agents.
func (c *caller) canForAll(do string) bool {
	for _, a := range c.server.Agents.All() {
		if !c.can(do, a) {
			return false
		}
	}
	return c.can(do, nil)
}

// conversation returns a problem if a conversation has runs, or turns of runs, that the client
// may not view: a run of the conversation would show them to it, and be shown to them.
func (c *caller) conversation(ctx context.Context, id string) error {
	if id == "" || c.canForAll(auth.View) {
		return nil
	}
	hidden := runs.Filter{MemoryID: id, Limit: 1, Match: func(sum runs.Summary) bool { return !c.canFor(auth.View, owner{sum.Agent, sum.Spec.Name}) }}
	found, _, err := c.Runs.List(ctx, hidden)
	if err != nil {
		return err
	}
	isHidden := func(in memory.Interaction) bool { return !c.canFor(auth.View, owner{spec: in.Agent}) }
	isClosed := len(found) > 0
	for _, m := range c.memories() {
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

// memories returns the folders of conversations of the client's tenant.
func (c *caller) memories() []agents.Memory {
	if c.Memories == nil {
		return nil
	}
	return c.Memories()
}

// read returns a run that the client may view.
func (c *caller) read(id string) (*runs.Run, error) {
	if err := c.run(auth.View, id); err != nil {
		return nil, err
	}
	return c.Runs.Read(id)
}
