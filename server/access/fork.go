package access

import (
	"context"

	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/runs"
	"github.com/pexctl/pex/server/auth"
	"github.com/pexctl/pex/server/problem"
)

// Fork is a request for a run that replays another one up to a call.
type Fork struct {
	RunID string // "" = derived from Key, or a new one
	Key   string // see NewRun
	At    string // path of the first live call; see runs.Fork
	Live  bool   // continue live from a call that differs from the recorded one
	Set   []string
	// Prompts are new texts of prompts, by name; see dsl.Options. They need the role admin.
	Prompts map[string]string
	Body    []byte // see NewRun
}

// Fork starts a fork of a run, unless an earlier request with the same content did. Nothing is
// then prepared again.
func (c *Client) Fork(ctx context.Context, parent string, f Fork) (id string, existed bool, err error) {
	if err := c.checkFork(parent, f); err != nil {
		return "", false, err
	}
	what := "fork of " + parent
	if f.RunID, err = c.newID(f.RunID, f.Key, what); err != nil {
		return "", false, err
	}
	existed, err = c.fork(ctx, parent, f, requestDigest(what, f.Body))
	return f.RunID, existed, startError(err, f.Key)
}

// Rehearsal is what a fork would do.
type Rehearsal struct {
	runs.Rehearsal
	Diagnostics []diag.Diagnostic `json:"diagnostics"` // warnings about the overrides and edited prompts
}

// RehearseFork returns what a fork would do. It starts no run and calls nothing.
func (c *Client) RehearseFork(ctx context.Context, parent string, f Fork) (*Rehearsal, error) {
	if err := c.checkFork(parent, f); err != nil {
		return nil, err
	}
	start, err := c.Runs.StartOf(parent)
	if err != nil {
		return nil, err
	}
	r, err := c.Runs.RehearseFork(ctx, parent, c.forkOf(f))
	if err != nil {
		return nil, err
	}
	out := &Rehearsal{*r, []diag.Diagnostic{}}
	for _, d := range c.Agents().Findings(start, f.Set, f.Prompts) {
		if isEdit(d) || c.MayEditPrompts() {
			out.Diagnostics = append(out.Diagnostics, d)
		}
	}
	return out, nil
}

// forkOf returns a fork as requested.
func (c *Client) forkOf(f Fork) runs.Fork {
	fork := c.Agents().Fork(f.RunID, f.At, f.Set, f.Prompts)
	if f.Live {
		fork.OnDrift = runs.DriftLive
	}
	return fork
}

// checkFork returns an error unless the client may fork a run as requested.
func (c *Client) checkFork(parent string, f Fork) error {
	if err := c.CheckRun(auth.Run, parent); err != nil {
		return err
	}
	if len(f.Prompts) > 0 && !c.MayEditPrompts() {
		return problem.New(problem.Forbidden, "editing the prompts of a run needs the role admin; fork it without prompts, or ask an admin to fork it").At("/prompts")
	}
	return c.checkSetOf(parent, f.Set)
}

// MayEditPrompts reports whether the client may fork runs with edited prompts. Prompts
// determine what an agent does with its tools, so a role that may run an agent is not enough.
func (c *Client) MayEditPrompts() bool { return c.Can(auth.Admin, nil) }

func (c *Client) fork(ctx context.Context, parent string, f Fork, request string) (existed bool, err error) {
	if existed, err = c.Manager.Existing(engine.Input{RunID: f.RunID, Request: request}); existed || err != nil {
		return existed, err
	}
	n, err := c.Runs.PrepareFork(ctx, parent, c.forkOf(f))
	if err != nil {
		return false, err
	}
	by := c.Actor().Identity()
	n.Input.By, n.Input.Request = &by, request
	return c.Manager.Start(ctx, n, "")
}
