package web

import (
	"context"
	"net/http"
	"net/url"
	"slices"

	"github.com/pexctl/pex/engine/memory"
	"github.com/pexctl/pex/engine/runs"
	"github.com/pexctl/pex/server/access"
	"github.com/pexctl/pex/server/auth"
	"github.com/pexctl/pex/server/problem"
)

// maxInteractions is how many interactions the page of a conversation shows: the latest.
const maxInteractions = 100

// conversationList is the data of the list of conversations.
type conversationList struct {
	Conversations []access.Conversation
	Q             string
	Next          string // query of the next page; "" = none
}

func (u *UI) listConversations(ctx context.Context, c *access.Client, r *http.Request) (*page, error) {
	q := access.ConversationQuery{Text: r.URL.Query().Get("q"), Cursor: r.URL.Query().Get("cursor"), Limit: pageSize}
	found, next, err := c.FindConversations(ctx, q)
	if err != nil {
		return nil, err
	}
	d := conversationList{Conversations: found, Q: q.Text}
	if next != "" {
		values := url.Values{"cursor": {next}}
		if q.Text != "" {
			values.Set("q", q.Text)
		}
		d.Next = values.Encode()
	}
	return &page{Name: "conversations", Title: "Conversations", Data: d}, nil
}

// conversationData is the data of the page of a conversation.
type conversationData struct {
	memory.Content
	Earlier   int                  // interactions that are not shown
	Executor  []memory.Interaction // the steps
	Runs      []row
	MoreRuns  bool
	Agents    []string // that can continue it
	Of        string   // agent that selects the folder; "" = any
	MayDelete bool
	ExportAs  string // name of a file
}

func (u *UI) showConversation(ctx context.Context, c *access.Client, r *http.Request) (*page, error) {
	agent, id := r.URL.Query().Get("agent"), r.PathValue("id")
	m, content, err := c.Conversation(ctx, auth.View, agent, id)
	if err != nil {
		return nil, err
	}
	d := conversationData{Content: content, Of: agent, MayDelete: c.CanForAll(auth.Admin), ExportAs: "conversation.json"}
	if d.Earlier = max(0, len(content.Interactions)-maxInteractions); d.Earlier > 0 {
		d.Interactions = content.Interactions[d.Earlier:]
	}
	steps, err := memory.ReadContent(ctx, m, memory.ExecutorID(id))
	if err != nil {
		return nil, err
	}
	d.Executor = steps.Interactions[max(0, len(steps.Interactions)-maxInteractions):]
	found, more, err := c.List(ctx, runs.Filter{MemoryID: id, Limit: maxConversations}, "", "")
	if err != nil {
		return nil, err
	}
	if d.Runs, err = rows(ctx, c, found); err != nil {
		return nil, err
	}
	d.MoreRuns = more > 0
	for _, name := range m.Agents {
		if a, ok := c.Agents().Get(name); ok && c.Can(auth.Run, a) {
			d.Agents = append(d.Agents, name)
		}
	}
	slices.SortStableFunc(d.Agents, func(a, b string) int { return d.uses(b) - d.uses(a) })
	return &page{Name: "conversation", Title: "Conversation " + id, Data: d}, nil
}

// uses returns how many of the shown runs are of an agent.
func (d *conversationData) uses(agent string) (n int) {
	for i := range d.Runs {
		if d.Runs[i].Agent == agent {
			n++
		}
	}
	return n
}

// deletion is the data of the page that asks before a conversation is deleted.
type deletion struct {
	memory.Content
	Of string
}

func (u *UI) confirmDeletion(ctx context.Context, c *access.Client, r *http.Request) (*page, error) {
	of := r.URL.Query().Get("agent")
	_, content, err := c.Conversation(ctx, auth.Admin, of, r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	return &page{Name: "delete", Title: "Delete conversation " + content.MemoryID, Data: deletion{content, of}}, nil
}

func (u *UI) deleteConversation(ctx context.Context, c *access.Client, r *http.Request) (*page, error) {
	if r.PostForm.Get("confirm") == "" {
		return nil, problem.New(problem.InvalidRequest, "the form has no confirmation")
	}
	if err := c.DeleteConversation(ctx, r.PostForm.Get("agent"), r.PathValue("id")); err != nil {
		return nil, err
	}
	return redirect("/conversations"), nil
}
