package access

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/pexctl/pex/engine/memory"
	"github.com/pexctl/pex/server/agents"
	"github.com/pexctl/pex/server/auth"
	"github.com/pexctl/pex/server/problem"
)

// ConversationQuery selects conversations.
type ConversationQuery struct {
	Agent  string // in the folders that it uses; "" = all
	Text   string // part of the id, a question or an answer, ignoring case; "" = all
	Cursor string // of the previous page; "" = the first page
	Limit  int    // maximum number; 0 = all
}

// maxSearched is how many conversations a search reads for a page.
const maxSearched = 1000

// FindConversations returns a page of the conversations that match a query, latest first, and the
// cursor of the next page, "" on the last one. A page of a search can have fewer than Limit.
// The client must be able to view the runs of all agents.
func (c *Client) FindConversations(ctx context.Context, q ConversationQuery) (found []Conversation, next string, err error) {
	memories, err := c.memoriesFor(auth.View, q.Agent)
	if err != nil {
		return nil, "", err
	}
	type stored struct {
		Conversation
		in agents.Memory
	}
	var all []stored
	for _, m := range memories {
		list, err := m.List(ctx)
		if err != nil {
			return nil, "", err
		}
		for _, conversation := range list {
			all = append(all, stored{Conversation{conversation, append([]string{}, m.Agents...)}, m})
		}
	}
	slices.SortStableFunc(all, func(a, b stored) int { return placeOf(&a.Conversation).compare(placeOf(&b.Conversation)) })
	if q.Cursor != "" {
		after, ok := parsePlace(q.Cursor)
		if !ok {
			return nil, "", problem.New(problem.InvalidCursor, "query parameter cursor: invalid value %.80q; use next of the previous page", q.Cursor)
		}
		all = slices.DeleteFunc(all, func(s stored) bool { return placeOf(&s.Conversation).compare(after) <= 0 })
	}
	read := 0
	for i := range all {
		s := &all[i]
		if q.Limit > 0 && len(found) == q.Limit || read == maxSearched {
			return found, placeOf(&all[i-1].Conversation).String(), nil
		}
		matches := containsFold(s.MemoryID, q.Text) || containsFold(s.LastQuestion, q.Text)
		if !matches {
			read++
			if matches, err = contains(ctx, s.in, s.MemoryID, q.Text); err != nil {
				return nil, "", err
			}
		}
		if matches {
			found = append(found, s.Conversation)
		}
	}
	return found, "", nil
}

// contains reports whether a question or an answer of a conversation contains a text.
func contains(ctx context.Context, a memory.Archive, id, part string) (bool, error) {
	turns, err := a.History(ctx, id)
	return slices.ContainsFunc(turns, func(in memory.Interaction) bool {
		return containsFold(in.Question, part) || containsFold(in.Answer, part)
	}), err
}

func containsFold(s, part string) bool {
	return part == "" || strings.Contains(strings.ToLower(s), strings.ToLower(part))
}

// place is the place of a conversation in lists.
type place struct {
	last time.Time
	id   string
}

func placeOf(c *Conversation) place { return place{c.Last.UTC(), c.MemoryID} }

// compare returns a negative number if p is before o: later.
func (p place) compare(o place) int { return cmp.Or(o.last.Compare(p.last), cmp.Compare(p.id, o.id)) }

// String returns the place for parsePlace.
func (p place) String() string { return p.last.Format(time.RFC3339Nano) + "~" + p.id }

func parsePlace(s string) (place, bool) {
	at, id, ok := strings.Cut(s, "~")
	last, err := time.Parse(time.RFC3339Nano, at)
	return place{last, id}, ok && err == nil
}

// DeleteConversation deletes a conversation and that of its executor. agent selects one of several
// folders that have it; "" = any.
func (c *Client) DeleteConversation(ctx context.Context, agent, id string) error {
	m, _, err := c.Conversation(ctx, auth.Admin, agent, id)
	if err != nil {
		return err
	}
	return memory.RemoveAll(ctx, m, id)
}
