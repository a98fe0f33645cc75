package access

import (
	"context"
	"errors"

	"github.com/pexctl/pex/engine/interrupt"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/runs"
	"github.com/pexctl/pex/server/agents"
	"github.com/pexctl/pex/server/auth"
	"github.com/pexctl/pex/server/manager"
	"github.com/pexctl/pex/server/problem"
)

// OpenQuestions returns the open questions of a run that the client may view.
func (c *Client) OpenQuestions(ctx context.Context, run string) ([]manager.OpenQuestion, error) {
	if err := c.CheckRun(auth.View, run); err != nil {
		return nil, err
	}
	return c.Manager.OpenQuestions(ctx, run), nil
}

// WaitingIn returns the run of an agent that waits for an answer in a conversation, with its
// open questions; see manager.Manager.WaitingIn. The client must be permitted to run the agent.
func (c *Client) WaitingIn(ctx context.Context, a *agents.Agent, memoryID string) (run string, open []interrupt.Question, err error) {
	run, found, err := c.Manager.WaitingIn(ctx, a.Name, memoryID)
	for _, q := range found {
		open = append(open, q.Open)
	}
	return run, open, err
}

// Answer answers a question of a run; see manager.Manager.Answer.
func (c *Client) Answer(ctx context.Context, run string, a manager.Answer) error {
	if err := c.CheckRun(auth.Approve, run); err != nil {
		return err
	}
	err := c.Manager.Answer(ctx, run, a, c.Actor())
	if e, ok := errors.AsType[*runs.ActionError](err); ok {
		return problem.New(problem.InvalidAnswer, "%v", e).At("/do").With("allowed", runs.Actions(e.Kind))
	}
	return err
}

// Message sends a message to a run; see manager.Manager.Message.
func (c *Client) Message(ctx context.Context, run string, m runs.Message) error {
	if err := c.CheckRun(auth.Run, run); err != nil {
		return err
	}
	err := c.Manager.Message(ctx, run, m, c.Actor())
	if errors.As(err, new(*journal.InUseError)) {
		return problem.New(problem.Running, "another process executes run %s; send the message again when the run waits for an answer or is suspended", run)
	}
	return err
}

// Cancel ends a run; see manager.Manager.Cancel.
func (c *Client) Cancel(ctx context.Context, run string) error {
	if err := c.CheckRun(auth.Run, run); err != nil {
		return err
	}
	return c.Manager.Cancel(ctx, run, c.Actor())
}

// Resume continues a run with overrides; see manager.Manager.Resume.
func (c *Client) Resume(ctx context.Context, run string, set []string, keepSpec bool) error {
	if err := c.CheckRun(auth.Run, run); err != nil {
		return err
	}
	if err := c.checkSetOf(run, set); err != nil {
		return err
	}
	return c.Manager.Resume(ctx, run, set, keepSpec, c.Actor())
}
