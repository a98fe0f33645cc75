package chat

import (
	"context"
	"slices"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/memory"
	"github.com/pexctl/pex/engine/runs"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/internal/app/apiclient"
)

// shownTurns is the number of earlier turns that are shown when a conversation is opened.
const shownTurns = 10

// open continues a conversation: it shows the latest turns, and follows the one that has not ended.
func (c *Chat) open(ctx context.Context, id string) error {
	filter := apiclient.Filter{MemoryID: id, Agent: c.o.Agent}
	page, err := c.o.Client.List(ctx, filter, shownTurns, "")
	if err != nil {
		return c.o.Fail(err)
	}
	c.leaveRun()
	c.memoryID = id
	content, err := c.o.Client.Conversation(ctx, id, c.o.Agent)
	if err != nil && !apiclient.IsCode(err, apiclient.NotFound) && !apiclient.IsCode(err, apiclient.Forbidden) {
		return c.o.Fail(err)
	}
	turns := content.Interactions
	if len(turns)+len(page.Runs) == 0 {
		c.note("Conversation %s is new", id)
		return nil
	}
	if more := len(turns) - shownTurns; more > 0 {
		c.note("%d earlier turns are not shown; /export has all", more)
		turns = turns[more:]
	}
	for _, t := range turns {
		c.o.Screen.Show(Entry{Said, t.Question, true})
		c.o.Screen.Show(Entry{Answer, t.Answer, true})
	}
	if len(page.Runs) > 0 {
		c.continueRun(ctx, page.Runs[0], turns)
	}
	return nil
}

// continueRun follows the latest run of the conversation if it has not ended. One that is suspended
// is resumed.
func (c *Chat) continueRun(ctx context.Context, latest runs.Summary, turns []memory.Interaction) {
	live := apiclient.IsLive(latest.Status)
	switch {
	case !live && latest.Status != stop.RunInterrupted:
		if !slices.ContainsFunc(turns, func(t memory.Interaction) bool { return t.RunID == latest.Run }) {
			c.o.Screen.Show(Entry{Said, latest.Question, true})
			c.problemf("%s", (&engine.Result{Status: latest.Status, StopReason: latest.StopReason}).Outcome())
		}
		return
	case !live && latest.Interrupts == 0:
		if err := c.o.Client.Resume(ctx, latest.Run, nil, true); err != nil && !apiclient.IsCode(err, apiclient.Running) {
			c.problem(err)
		}
	}
	c.show(Said, latest.Question)
	c.note("Continuing run %s", latest.Run)
	c.follow(ctx, latest.Run)
}
