package access

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/pexctl/pex/server/agents"
	"github.com/pexctl/pex/server/problem"
)

// checkSet returns the problem of the first override that the client may not set.
func (c *Client) checkSet(set, allowed []string) *problem.Problem {
	if c.server.Owner != nil {
		return nil
	}
	for i, s := range set {
		if agents.MayOverride(allowed, s) {
			continue
		}
		key, _, _ := strings.Cut(s, "=")
		detail := fmt.Sprintf("%q must not be set; the agent allows %s", s, strings.Join(allowed, ", "))
		switch {
		case len(allowed) == 0:
			detail = fmt.Sprintf("%q must not be set; the agent allows no overrides", s)
		case agents.MayOverride(allowed, key+"=1"):
			detail = fmt.Sprintf("%q must not be set; use a plain value, without references and collections", s)
		}
		return problem.New(problem.SetNotAllowed, "%s", detail).At("/set/"+strconv.Itoa(i)).With("allowed", append([]string{}, allowed...))
	}
	return nil
}

// checkSetOf returns an error if the client may not set overrides for a run that exists.
func (c *Client) checkSetOf(run string, set []string) error {
	allowed, err := c.allowedSet(run)
	if err != nil {
		return err
	}
	if bad := c.checkSet(set, allowed); bad != nil {
		return bad
	}
	return nil
}

// allowedSet returns the overrides that a client may set for a run that exists: those of its
// agent, or of all agents with its spec.
func (c *Client) allowedSet(run string) ([]string, error) {
	start, err := c.Runs.StartOf(run)
	if err != nil {
		return nil, err
	}
	allowed, isKnown := []string(nil), false
	for _, a := range c.Agents().All() {
		switch of := start.Input.Agent; {
		case of != a.Name && (of != "" || a.Program.Name != start.Name):
		case !isKnown:
			allowed, isKnown = a.AllowSet, true
		default:
			allowed = slices.DeleteFunc(slices.Clone(allowed), func(key string) bool { return !slices.Contains(a.AllowSet, key) })
		}
	}
	if !isKnown { // the client is an admin
		allowed = agents.DefaultAllowSet()
	}
	return allowed, nil
}
