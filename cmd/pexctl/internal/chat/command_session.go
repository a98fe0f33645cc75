package chat

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/engine/plan"
	"github.com/pexctl/pex/engine/runs"
	"github.com/pexctl/pex/engine/text"
	"github.com/pexctl/pex/internal/app/apiclient"
)

func (c *Chat) listSessions(ctx context.Context, _ string) error {
	all, err := c.o.Client.Conversations(ctx, c.o.Agent)
	if err != nil {
		c.problem(err)
		return nil
	}
	if all = talks(all); len(all) == 0 {
		c.note("No conversation is stored yet; a turn is stored when it ends")
		return nil
	}
	var b strings.Builder
	for _, s := range all {
		mark := " "
		if s.MemoryID == c.memoryID {
			mark = "*"
		}
		ago := "-"
		if !s.Last.IsZero() {
			ago = text.Ago(c.o.Now().Sub(s.Last))
		}
		fmt.Fprintf(&b, "%s %-28s %-8s %-8s %s\n", mark, s.MemoryID, text.Count(s.Interactions, "turn"), ago, text.ClipRunes(text.OneLine(s.LastQuestion), 60))
	}
	c.show(Output, b.String())
	return nil
}

func (c *Chat) openSession(ctx context.Context, id string) error {
	id, ok := c.knownSession(ctx, id)
	if !ok {
		return nil
	}
	if id != c.memoryID {
		c.noteLeft()
	}
	if err := c.open(ctx, id); err != nil {
		c.show(Problem, err.Error())
	}
	return nil
}

// talks returns the conversations without those that have the steps of others.
func talks(all []apiclient.Conversation) []apiclient.Conversation {
	return slices.DeleteFunc(all, func(s apiclient.Conversation) bool { return strings.HasSuffix(s.MemoryID, "/executor") })
}

// knownSession returns the conversation that a word names: its id, or the start of it. An id that
// only runs have is accepted, too: their turns may not have ended.
func (c *Chat) knownSession(ctx context.Context, word string) (id string, ok bool) {
	all, err := c.o.Client.Conversations(ctx, c.o.Agent)
	if err != nil && !apiclient.IsCode(err, apiclient.Forbidden) {
		c.problem(err)
		return "", false
	}
	var ids []string
	for _, s := range talks(all) {
		if s.MemoryID == word {
			return word, true
		}
		ids = append(ids, s.MemoryID)
	}
	if page, err := c.o.Client.List(ctx, apiclient.Filter{MemoryID: word, Agent: c.o.Agent}, 1, ""); err == nil && len(page.Runs) > 0 || word == c.memoryID {
		return word, true
	}
	near := ui.Nearest(word, ids)
	switch {
	case near != "" && strings.HasPrefix(near, word):
		return near, true
	case near != "":
		c.problemf("no conversation %s; did you mean %s?", word, near)
	default:
		c.problemf("no conversation %s; /sessions lists them", word)
	}
	return "", false
}

func (c *Chat) showPlan(context.Context, string) error {
	if len(c.turn.Steps) == 0 {
		c.note("The latest turn has no plan")
		return nil
	}
	var b strings.Builder
	fmt.Fprintf(&b, "plan v%d\n", c.turn.Plans)
	for _, s := range c.turn.Steps {
		status := "open"
		if s.Status != "" {
			status = string(s.Status)
		}
		fmt.Fprintf(&b, "  %-8s %s %s\n", status, s.ID, text.OneLine(s.Goal))
		switch {
		case s.Error != "":
			fmt.Fprintf(&b, "           %s\n", text.ClipRunes(text.OneLine(s.Error), 200))
		case s.Result != "" && s.Status == plan.OK:
			fmt.Fprintf(&b, "           %s\n", text.ClipRunes(text.OneLine(s.Result), 200))
		}
	}
	c.show(Output, b.String())
	return nil
}

func (c *Chat) showCost(ctx context.Context, _ string) error {
	all, err := c.allRuns(ctx)
	if err != nil {
		c.problem(err)
		return nil
	}
	if len(all) == 0 {
		c.note("The conversation has no turns yet")
		return nil
	}
	var b strings.Builder
	cost, calls := 0.0, 0
	for i := len(all) - 1; i >= 0; i-- {
		r := &all[i]
		cost, calls = cost+r.CostUSD, calls+r.ModelCalls
		fmt.Fprintf(&b, "%s  %-12s %9s  %-14s %s\n", r.Run, r.Status, ui.Cost(r.CostUSD), text.Count(r.ModelCalls, "model call"), text.ClipRunes(text.OneLine(r.Question), 50))
	}
	fmt.Fprintf(&b, "%s, %s, %s\n", text.Count(len(all), "turn"), text.Count(calls, "model call"), total(cost))
	c.show(Output, b.String())
	return nil
}

// total formats a sum; models without a price cost nothing that is known.
func total(usd float64) string {
	if usd == 0 {
		return "no known cost"
	}
	return ui.Cost(usd)
}

// allRuns returns the runs of the conversation, latest first.
func (c *Chat) allRuns(ctx context.Context) (all []runs.Summary, err error) {
	const size = 200
	for cursor := ""; ; {
		page, err := c.o.Client.List(ctx, apiclient.Filter{MemoryID: c.memoryID, Agent: c.o.Agent}, size, cursor)
		if err != nil {
			return nil, err
		}
		all = append(all, page.Runs...)
		if cursor = page.Next; cursor == "" {
			return all, nil
		}
	}
}
