package api

import (
	"context"
	"net/http"

	"github.com/pexctl/pex/engine/memory"
	"github.com/pexctl/pex/server/access"
	"github.com/pexctl/pex/server/auth"
)

const memoriesText = `The conversations in the home, and those in the folders that memory.path of an agent names.`

func (a *operations) addMemories() {
	s := a.server
	of := func(id, method, path, summary, text string, responses map[int]any, problems ...int) describe {
		return describe{id: id, method: method, path: "/v1/memories" + path, tag: "memories", summary: summary, text: text, responses: responses, problems: problems}
	}
	add(a, of("listMemories", http.MethodGet, "", "List conversations, latest first", memoriesText, map[int]any{200: ConversationList{}}, 400, 403, 404, 422), s.listMemories)
	add(a, of("getMemory", http.MethodGet, "/{id}", "Get a conversation", "", map[int]any{200: memory.Content{}}, 403, 404, 422), s.getMemory)
	add(a, of("deleteMemory", http.MethodDelete, "/{id}", "Delete a conversation", "", map[int]any{204: nil}, 403, 404, 422), s.deleteMemory)
}

// ConversationList has the conversations of a tenant.
type ConversationList struct {
	Conversations []Conversation `json:"conversations" doc:"As pexctl memory ls -o json, with the agents."`
	Next          string         `json:"next,omitempty" doc:"The cursor of the next page; missing on the last page."`
}

type memoriesRequest struct {
	MemoryOf
	Q      string `query:"q" maxLength:"200" doc:"Only conversations whose id, questions or answers contain this text, ignoring case."`
	Limit  int    `query:"limit" minimum:"1" maximum:"500" doc:"Maximum number of conversations; a page of a search can have fewer, also if there is a next one (default: all)."`
	Cursor string `query:"cursor" doc:"Where the page starts: next of the previous page."`
}

// Conversation is a conversation in a list.
type Conversation struct {
	memory.Conversation
	Agents []string `json:"agents" doc:"The agents that use the folder of the conversation."`
}

// MemoryOf selects the folder of an agent.
type MemoryOf struct {
	Agent string `query:"agent" doc:"Only in the folder of this agent."`
}

func (s *server) listMemories(ctx context.Context, in *memoriesRequest) (reply, error) {
	c, err := s.Client(ctx)
	if err != nil {
		return nil, err
	}
	all, next, err := c.FindConversations(ctx, access.ConversationQuery{Agent: in.Agent, Text: in.Q, Cursor: in.Cursor, Limit: in.Limit})
	if err != nil {
		return nil, err
	}
	list := ConversationList{Conversations: []Conversation{}, Next: next}
	for _, conversation := range all {
		list.Conversations = append(list.Conversations, Conversation(conversation))
	}
	return replyJSON(http.StatusOK, list)
}

type memoryRequest struct {
	ID string `path:"id" doc:"Id of a conversation (memory_id)."`
	MemoryOf
}

func (s *server) getMemory(ctx context.Context, in *memoryRequest) (reply, error) {
	c, err := s.Client(ctx)
	if err != nil {
		return nil, err
	}
	_, content, err := c.Conversation(ctx, auth.View, in.Agent, in.ID)
	if err != nil {
		return nil, err
	}
	return replyJSON(http.StatusOK, content)
}

func (s *server) deleteMemory(ctx context.Context, in *memoryRequest) (reply, error) {
	c, err := s.Client(ctx)
	if err != nil {
		return nil, err
	}
	if err := c.DeleteConversation(ctx, in.Agent, in.ID); err != nil {
		return nil, err
	}
	return replyEmpty(http.StatusNoContent), nil
}
