package access

import (
	"context"
	"time"

	"github.com/pexctl/pex/engine/runs"
	"github.com/pexctl/pex/server/auth"
	"github.com/pexctl/pex/server/usage"
)

// History is what the runs that a client may view used over time.
type History struct {
	Since, Until time.Time // Until is exclusive
	By           usage.Period
	Agent        string // only of this agent; "" = all
}

// UsageOver returns the usage of the runs that the client may view, by period and agent. It reads
// only the heads of the runs.
func (c *Client) UsageOver(ctx context.Context, h History) ([]usage.Point, error) {
	all, err := c.Runs.Summaries(ctx)
	if err != nil {
		return nil, err
	}
	type known struct {
		name string
		may  bool
	}
	owners := map[Owner]known{}
	return usage.Compute(all, h.By, func(sum *runs.Summary) (string, bool) {
		if sum.StartedAt.Before(h.Since) || !sum.StartedAt.Before(h.Until) {
			return "", false
		}
		of := Owner{Agent: sum.Agent, Spec: sum.Spec.Name}
		k, ok := owners[of]
		if !ok {
			k = known{c.AgentOf(of), c.CanFor(auth.View, of)}
			if k.name == "" {
				k.name = of.Spec
			}
			owners[of] = k
		}
		return k.name, k.may && (h.Agent == "" || h.Agent == k.name)
	}), nil
}
