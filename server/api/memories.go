package api

import (
	"context"
	"net/http"

	"github.com/pexctl/pex/engine/memory"
	"github.com/pexctl/pex/server/auth"
	"github.com/pexctl/pex/server/problem"
)

func (a *operations) addMemories() {
	s := a.server
	of := func(id, method, path, summary string, responses map[int]any, problems ...int) describe {
		return describe{id: id, method: method, path: "/v1/memories" + path, tag: "memories", summary: summary, responses: responses, problems: problems}
	}
	add(a, of("listMemories", http.MethodGet, "", "List conversations, latest first", map[int]any{200: ConversationList{}}, 403), s.listMemories)
	add(a, of("getMemory", http.MethodGet, "/{id}", "Get a conversation", map[int]any{200: memory.Content{}}, 403, 404), s.getMemory)
	add(a, of("deleteMemory", http.MethodDelete, "/{id}", "Delete a conversation", map[int]any{204: nil}, 403, 404), s.deleteMemory)
}

// ConversationList has the conversations of a tenant.
type ConversationList struct {
	Conversations []memory.Conversation `json:"conversations" doc:"As pexctl memory ls -o json."`
}

// memories returns the conversations of the client's tenant, for an action.
func (s *server) memories(ctx context.Context, do string) (memory.Archive, error) {
	c, err := s.caller(ctx)
	if err != nil {
		return nil, err
	}
	if c.Memory == nil {
		return nil, problem.New(problem.NotFound, "this server stores no conversations")
	}
	if !c.canForAll(do) { // the memory has the answers of all agents
		return nil, problem.New(problem.Forbidden, "this needs the role %s for all agents", do)
	}
	return c.Memory, nil
}

func (s *server) listMemories(ctx context.Context, _ *struct{}) (reply, error) {
	m, err := s.memories(ctx, auth.View)
	if err != nil {
		return nil, err
	}
	all, err := m.List(ctx)
	if err != nil {
		return nil, err
	}
	return replyJSON(http.StatusOK, ConversationList{append([]memory.Conversation{}, all...)})
}

type memoryRequest struct {
	ID string `path:"id" doc:"Id of a conversation (memory_id)."`
}

// content returns a conversation that exists.
func content(ctx context.Context, m memory.Archive, id string) (memory.Content, error) {
	found, err := memory.ReadContent(ctx, m, id)
	if err == nil && found.IsEmpty() {
		err = problem.New(problem.NotFound, "no conversation %q", id)
	}
	return found, err
}

func (s *server) getMemory(ctx context.Context, in *memoryRequest) (reply, error) {
	m, err := s.memories(ctx, auth.View)
	if err != nil {
		return nil, err
	}
	found, err := content(ctx, m, in.ID)
	if err != nil {
		return nil, err
	}
	return replyJSON(http.StatusOK, found)
}

func (s *server) deleteMemory(ctx context.Context, in *memoryRequest) (reply, error) {
	m, err := s.memories(ctx, auth.Admin)
	if err != nil {
		return nil, err
	}
	if _, err := content(ctx, m, in.ID); err != nil {
		return nil, err
	}
	if err := memory.RemoveAll(ctx, m, in.ID); err != nil {
		return nil, err
	}
	return replyEmpty(http.StatusNoContent), nil
}
