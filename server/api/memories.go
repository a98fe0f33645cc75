package api

import (
	"context"
	"net/http"

	"github.com/pexctl/pex/engine/memory"
	"github.com/pexctl/pex/server/auth"
)

const memoriesText = `The conversations in the home, and those in the folders that memory.path of an agent names.`

func (a *operations) addMemories() {
	s := a.server
	of := func(id, method, path, summary, text string, responses map[int]any, problems ...int) describe {
		return describe{id: id, method: method, path: "/v1/memories" + path, tag: "memories", summary: summary, text: text, responses: responses, problems: problems}
	}
	add(a, of("listMemories", http.MethodGet, "", "List conversations, latest first", memoriesText, map[int]any{200: ConversationList{}}, 403, 404), s.listMemories)
	add(a, of("getMemory", http.MethodGet, "/{id}", "Get a conversation", "", map[int]any{200: memory.Content{}}, 403, 404, 422), s.getMemory)
	add(a, of("deleteMemory", http.MethodDelete, "/{id}", "Delete a conversation", "", map[int]any{204: nil}, 403, 404, 422), s.deleteMemory)
}

// ConversationList has the conversations of a tenant.
type ConversationList struct {
	Conversations []Conversation `json:"conversations" doc:"As pexctl memory ls -o json, with the agents."`
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

func (s *server) listMemories(ctx context.Context, in *MemoryOf) (reply, error) {
	c, err := s.Client(ctx)
	if err != nil {
		return nil, err
	}
	all, err := c.ListConversations(ctx, in.Agent)
	if err != nil {
		return nil, err
	}
	list := ConversationList{Conversations: []Conversation{}}
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
	m, _, err := c.Conversation(ctx, auth.Admin, in.Agent, in.ID)
	if err != nil {
		return nil, err
	}
	if err := memory.RemoveAll(ctx, m, in.ID); err != nil {
		return nil, err
	}
	return replyEmpty(http.StatusNoContent), nil
}
