package access

import (
	"context"

	"github.com/pexctl/pex/engine/runs"
	"github.com/pexctl/pex/server/auth"
	"github.com/pexctl/pex/server/manager"
)

// List returns the runs that match a filter, latest first, and how many more there are: those
// of an agent ("" = all), with a status or stop reason ("" = any), that the client may view.
// Filter.Match sees queued runs as such.
func (c *Client) List(ctx context.Context, f runs.Filter, agent, status string) (found []runs.Summary, more int, err error) {
	matches, further := c.matcher(agent, status), f.Match
	f.Match = func(sum runs.Summary) bool {
		if !matches(sum) {
			return false
		}
		c.showQueued(&sum)
		return further == nil || further(sum)
	}
	if found, more, err = c.Runs.List(ctx, f); err != nil {
		return nil, 0, err
	}
	for i := range found {
		c.showQueued(&found[i])
	}
	return found, more, nil
}

// matcher returns a filter for the runs of an agent, or of all, with a status, that the
// client may view.
func (c *Client) matcher(agent, status string) func(runs.Summary) bool {
	known := map[Owner]bool{}
	return func(sum runs.Summary) bool {
		of := Owner{Agent: sum.Agent, Spec: sum.Spec.Name}
		may, ok := known[of]
		if !ok {
			may = c.CanFor(auth.View, of)
			known[of] = may
		}
		switch {
		case !may, agent != "" && agent != c.AgentOf(of):
			return false
		case status == "":
			return true
		}
		c.showQueued(&sum)
		return status == string(sum.Status) || status == string(sum.StopReason.Code)
	}
}

// Question is an open question of a run.
type Question struct {
	manager.OpenQuestion
	Name string // of the agent; "" if the server has none for the spec
	Mine bool   // the client may answer it
}

// Questions returns the open questions of all runs, by run, that the client may view or
// answer.
func (c *Client) Questions(ctx context.Context) ([]Question, error) {
	open, err := c.Manager.Questions(ctx)
	if err != nil {
		return nil, err
	}
	var out []Question
	for _, o := range open {
		of := Owner{Agent: o.Agent, Spec: o.Spec}
		mayAnswer := c.CanFor(auth.Approve, of)
		if mayAnswer || c.CanFor(auth.View, of) {
			out = append(out, Question{o, c.AgentOf(of), mayAnswer && o.Open.Permit(c.Actor(), "approve") == nil})
		}
	}
	return out, nil
}
