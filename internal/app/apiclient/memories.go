package apiclient

import (
	"context"
	"net/http"
	"net/url"

	"github.com/pexctl/pex/engine/memory"
)

// Conversation is a conversation in a list.
type Conversation struct {
	memory.Conversation
	Agents []string `json:"agents"` // that use its folder
}

// Conversations returns the conversations that the server stores, latest first; those in the
// folder of an agent, unless agent is "".
func (c *Client) Conversations(ctx context.Context, agent string) ([]Conversation, error) {
	var list struct {
		Conversations []Conversation `json:"conversations"`
	}
	err := c.get(ctx, memoryPath("", agent), &list)
	return list.Conversations, err
}

// Conversation returns the content of a conversation.
func (c *Client) Conversation(ctx context.Context, id, agent string) (content memory.Content, err error) {
	err = c.get(ctx, memoryPath(id, agent), &content)
	return content, err
}

// DeleteConversation deletes a conversation.
func (c *Client) DeleteConversation(ctx context.Context, id, agent string) error {
	_, _, err := c.call(ctx, http.MethodDelete, memoryPath(id, agent), nil)
	return err
}

// memoryPath returns the path of a conversation in the folder of an agent, or of all.
func memoryPath(id, agent string) string {
	path := "/v1/memories"
	if id != "" {
		path += "/" + url.PathEscape(id)
	}
	if agent != "" {
		path += "?agent=" + url.QueryEscape(agent)
	}
	return path
}
