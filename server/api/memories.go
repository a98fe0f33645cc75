package api

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/pexctl/pex/engine/memory"
	"github.com/pexctl/pex/server/agents"
	"github.com/pexctl/pex/server/auth"
	"github.com/pexctl/pex/server/problem"
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

// openMemories returns the folders of conversations of the client's tenant, for an action.
func (s *server) openMemories(ctx context.Context, do string, of MemoryOf) ([]agents.Memory, error) {
	c, err := s.Client(ctx)
	if err != nil {
		return nil, err
	}
	if !c.CanForAll(do) { // the memory has the answers of all agents
		return nil, problem.New(problem.Forbidden, "this needs the role %s for all agents", do)
	}
	all := c.Conversations()
	if of.Agent == "" {
		return all, nil
	}
	if _, err := c.Agent(do, of.Agent); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(all, func(m agents.Memory) bool { return !slices.Contains(m.Agents, of.Agent) }), nil
}

func (s *server) listMemories(ctx context.Context, in *MemoryOf) (reply, error) {
	memories, err := s.openMemories(ctx, auth.View, *in)
	if err != nil {
		return nil, err
	}
	list := ConversationList{Conversations: []Conversation{}}
	for _, m := range memories {
		all, err := m.List(ctx)
		if err != nil {
			return nil, err
		}
		for _, conversation := range all {
			list.Conversations = append(list.Conversations, Conversation{conversation, append([]string{}, m.Agents...)})
		}
	}
	slices.SortStableFunc(list.Conversations, func(a, b Conversation) int { return b.Last.Compare(a.Last) })
	return replyJSON(http.StatusOK, list)
}

type memoryRequest struct {
	ID string `path:"id" doc:"Id of a conversation (memory_id)."`
	MemoryOf
}

// find returns the folder that has a conversation, and its content.
func (s *server) find(ctx context.Context, do string, in *memoryRequest) (found agents.Memory, content memory.Content, err error) {
	memories, err := s.openMemories(ctx, do, in.MemoryOf)
	if err != nil {
		return found, content, err
	}
	for _, m := range memories {
		c, err := memory.ReadContent(ctx, m, in.ID)
		switch {
		case err != nil:
			return found, content, err
		case c.IsEmpty():
		case found.Archive != nil:
			return found, content, problem.New(problem.InvalidRequest, "several folders have a conversation %q; add ?agent=NAME with an agent that uses it: %s", in.ID, oneOfAgents(found, m)).
				With("agents", slices.Concat(found.Agents, m.Agents))
		default:
			found, content = m, c
		}
	}
	if found.Archive == nil {
		err = problem.New(problem.NotFound, "no conversation %q", in.ID)
	}
	return found, content, err
}

// oneOfAgents names the agents that use folders.
func oneOfAgents(all ...agents.Memory) string {
	var names []string
	for _, m := range all {
		names = append(names, m.Agents...)
	}
	return cmp.Or(strings.Join(names, ", "), "none of this server does")
}

func (s *server) getMemory(ctx context.Context, in *memoryRequest) (reply, error) {
	_, content, err := s.find(ctx, auth.View, in)
	if err != nil {
		return nil, err
	}
	return replyJSON(http.StatusOK, content)
}

func (s *server) deleteMemory(ctx context.Context, in *memoryRequest) (reply, error) {
	m, _, err := s.find(ctx, auth.Admin, in)
	if err != nil {
		return nil, err
	}
	if err := memory.RemoveAll(ctx, m, in.ID); err != nil {
		return nil, err
	}
	return replyEmpty(http.StatusNoContent), nil
}
