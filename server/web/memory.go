package web

import (
	"context"
	"net/http"

	"github.com/pexctl/pex/server/access"
	"github.com/pexctl/pex/server/auth"
)

func (u *UI) listConversations(ctx context.Context, c *access.Client, _ *http.Request) (*page, error) {
	all, err := c.ListConversations(ctx, "")
	if err != nil {
		return nil, err
	}
	return &page{Name: "conversations", Title: "Conversations", Data: all}, nil
}

func (u *UI) showConversation(ctx context.Context, c *access.Client, r *http.Request) (*page, error) {
	_, content, err := c.Conversation(ctx, auth.View, r.URL.Query().Get("agent"), r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	return &page{Name: "conversation", Title: "Conversation " + content.MemoryID, Data: content}, nil
}
