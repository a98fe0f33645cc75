package opensearch

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/pexctl/pex/engine/memory"
	"github.com/pexctl/pex/engine/runs"
	"github.com/pexctl/pex/engine/text"
	"github.com/pexctl/pex/server/auth"
	"github.com/pexctl/pex/server/problem"
	"github.com/pexctl/pex/server/registry"
)

// addMemory adds the operations for conversations. The id of an executor's conversation has a
// slash, so the operations of messages match the end of a path.
func (s *service) addMemory() {
	s.handle("POST /memory", documentForm, createMemory)
	s.handle("GET /memory", documentForm, listMemories)
	s.handle("PUT /memory/{id}", documentForm, updateMemory)
	s.handle("GET /memory/message/{id}", documentForm, getMessage)
	s.handle("PUT /memory/message/{id}", documentForm, func(*call) (any, error) {
		return nil, problem.New(problem.NotSupported, "messages are the runs of a conversation and cannot be changed; a run has labels for information of your own")
	})
	s.handle("GET /memory/message/{id}/traces", documentForm, listTraces)
	s.handle("GET /memory/{path...}", documentForm, getMemory)
	s.handle("DELETE /memory/{path...}", documentForm, deleteMemory)
	s.handle("POST /memory/{path...}", documentForm, postMemory)
}

// page is a part of a list, as max_results and next_token ask for it.
func page[T any](c *call, name string, all []T) (any, error) {
	q := c.r.URL.Query()
	most, from := 10, 0
	for key, to := range map[string]*int{"max_results": &most, "next_token": &from} {
		if s := q.Get(key); s != "" {
			n, err := strconv.Atoi(s)
			if err != nil || n < 0 {
				return nil, problem.New(problem.InvalidRequest, "%s must be a number", key)
			}
			*to = n
		}
	}
	from = min(from, len(all))
	to := from + min(most, len(all)-from)
	out := object{name: append([]T{}, all[from:to]...)}
	if to < len(all) {
		out["next_token"] = to
	}
	return out, nil
}

// may returns a problem unless the client may perform an action on all agents, because a
// conversation has the answers of all.
func (c *call) may(do string) error {
	if c.CanForAll(do) {
		return nil
	}
	return problem.New(problem.Forbidden, "this needs the role %s for all agents", do)
}

func timeText(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

// createMemory names a new conversation.
func createMemory(c *call) (any, error) {
	if err := c.Permit(auth.Run, nil); err != nil {
		return nil, err
	}
	if err := c.checkSize(); err != nil {
		return nil, err
	}
	body := c.information()
	maps.DeleteFunc(body, func(_ string, v any) bool { return v == nil })
	id, _, err := c.registry.Create(registry.Memories, body)
	return object{"memory_id": id}, err
}

// information returns what a client may store about a conversation.
func (c *call) information() registry.Body {
	body := registry.Body{}
	for _, name := range []string{"name", "application_type", "additional_info"} {
		if v, ok := c.body[name]; ok {
			body[name] = v
		}
	}
	return body
}

// maxMemory is the size of what a client may store about a conversation, in bytes.
const maxMemory = 4 << 10

func (c *call) checkSize() error {
	if len(c.raw) > maxMemory {
		return problem.New(problem.TooLarge, "a memory has at most %d bytes of names and information", maxMemory)
	}
	return nil
}

func updateMemory(c *call) (any, error) {
	if err := c.Permit(auth.Run, nil); err != nil {
		return nil, err
	}
	if err := c.checkSize(); err != nil {
		return nil, err
	}
	if err := c.registry.Update(registry.Memories, c.path("id"), c.information()); err != nil {
		return nil, err
	}
	return written("memory-meta", c.path("id"), "updated"), nil
}

// conversations returns the conversations of the tenant, latest first.
func (c *call) conversations() ([]object, error) {
	if err := c.may(auth.View); err != nil {
		return nil, err
	}
	type entry struct {
		memory object
		last   time.Time
	}
	var all []entry
	named := map[string]registry.Document{}
	for _, d := range c.registry.List(registry.Memories) {
		named[d.ID] = d
	}
	for _, m := range c.Conversations() {
		found, err := m.List(c.ctx())
		if err != nil {
			return nil, err
		}
		for _, conversation := range found {
			if d, ok := named[conversation.MemoryID]; ok {
				d.Updated = conversation.Last
				all = append(all, entry{memoryOf(d), conversation.Last})
				delete(named, d.ID)
				continue
			}
			d := registry.Document{ID: conversation.MemoryID, Body: registry.Body{"name": text.Clip(conversation.LastQuestion, 80)}, Created: conversation.First, Updated: conversation.Last}
			all = append(all, entry{memoryOf(d), conversation.Last})
		}
	}
	for _, d := range named {
		all = append(all, entry{memoryOf(d), d.Updated})
	}
	slices.SortStableFunc(all, func(a, b entry) int {
		return cmp.Or(b.last.Compare(a.last), cmp.Compare(a.memory["memory_id"].(string), b.memory["memory_id"].(string)))
	})
	out := []object{}
	for _, e := range all {
		out = append(out, e.memory)
	}
	return out, nil
}

func memoryOf(d registry.Document) object {
	out := object{}
	maps.Copy(out, d.Body)
	maps.Copy(out, object{"memory_id": d.ID, "create_time": timeText(d.Created), "updated_time": timeText(d.Updated)})
	return out
}

func listMemories(c *call) (any, error) {
	all, err := c.conversations()
	if err != nil {
		return nil, err
	}
	return page(c, "memories", all)
}

// getMemory responds with a conversation, its messages, or what a search finds.
func getMemory(c *call) (any, error) {
	id, isMessages := cutLast(c.path("path"), "messages")
	if isMessages {
		all, err := c.messages(id)
		if err != nil {
			return nil, err
		}
		return page(c, "messages", all)
	}
	if _, isSearch := cutLast(id, "_search"); isSearch || id == "_search" {
		return postMemory(c)
	}
	all, err := c.conversations()
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(all, func(m object) bool { return m["memory_id"] == id })
	if i < 0 {
		return nil, missing(registry.Memories, id)
	}
	return all[i], nil
}

// deleteMemory deletes a conversation. Its runs stay.
func deleteMemory(c *call) (any, error) {
	id := c.path("path")
	if err := c.may(auth.Admin); err != nil {
		return nil, err
	}
	exists, err := c.hasConversation(id)
	if err != nil || !exists {
		return nil, cmp.Or(err, error(missing(registry.Memories, id)))
	}
	for _, m := range c.Conversations() {
		if err := memory.RemoveAll(c.ctx(), m, id); err != nil {
			return nil, err
		}
	}
	if _, err := c.registry.Get(registry.Memories, id); err == nil {
		if err := c.registry.Delete(registry.Memories, id); err != nil {
			return nil, err
		}
	}
	return object{"success": true}, nil
}

// postMemory searches conversations, or the messages of one.
func postMemory(c *call) (any, error) {
	path := c.path("path")
	if path == "_search" {
		all, err := c.conversations()
		if err != nil {
			return nil, err
		}
		return c.search(".plugins-ml-memory-meta", hitsOf(all, "memory_id"))
	}
	if id, ok := cutLast(path, "_search"); ok {
		all, err := c.messages(id)
		if err != nil {
			return nil, err
		}
		return c.search(".plugins-ml-memory-message", hitsOf(all, "message_id"))
	}
	return nil, problem.New(problem.NotSupported, "messages are the runs of a conversation; execute an agent with this memory_id")
}

func hitsOf(all []object, id string) (out []hit) {
	for _, each := range all {
		out = append(out, hit{each[id].(string), each})
	}
	return out
}

// messages returns the messages of a conversation, oldest first: the stored ones, then the runs
// that have not ended.
func (c *call) messages(id string) ([]object, error) {
	if err := c.may(auth.View); err != nil {
		return nil, err
	}
	exists, err := c.hasConversation(id)
	if err != nil || !exists {
		return nil, cmp.Or(err, error(missing(registry.Memories, id)))
	}
	turns, err := c.history(id)
	if err != nil {
		return nil, err
	}
	out := []object{}
	for _, in := range turns {
		out = append(out, messageOf(in))
	}
	live, _, err := c.List(c.ctx(), runs.Filter{MemoryID: id}, "", "")
	if err != nil {
		return nil, err
	}
	slices.Reverse(live)
	for _, sum := range live {
		if !slices.ContainsFunc(turns, func(in memory.Interaction) bool { return in.RunID == sum.Run }) {
			out = append(out, messageOf(liveMessage(sum)))
		}
	}
	return out, nil
}
