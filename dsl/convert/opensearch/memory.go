package opensearch

import (
	"strconv"
	"strings"

	"github.com/pexctl/pex/dsl/convert"
	"github.com/pexctl/pex/dsl/convert/internal/tree"
)

// memorySection converts the memory of conversations.
func (m *importer) memorySection() {
	mem := m.agent.Get("memory").Decode()
	if mem == nil && m.uses("notepad") {
		m.memory.Put("backend", "badger")
		m.NoteAt(m.from, "tools", convert.Changed, "the agent has no memory and a scratch pad: memory.backend is badger here, which the tool notepad keeps its notes in; no earlier turn is shown")
		return
	}
	if mem == nil {
		m.memory.Put("backend", "none")
		return
	}
	m.memory.Put("backend", "badger")
	m.memory.Put("history", true)
	it := mem.Get("type")
	if mem.Kind == tree.Text {
		it = mem
	}
	switch typ := strings.ToLower(it.Peek()); typ {
	case "conversation_index":
		m.Note(it, convert.Changed, "becomes memory.backend: badger, files beside the runs; conversations of the cluster are not brought along")
	default:
		m.Note(it, convert.Changed, "becomes memory.backend: badger, files beside the runs: earlier turns of a conversation are kept, facts drawn from them (strategies, containers) are not")
	}
	for _, sub := range mem.Unused() {
		m.Note(sub, convert.Dropped, "a conversation has an id and turns here: pexctl run --memory-id ID")
	}
	mem.Use()
	if id := m.agent.Get("parameters", "memory_id"); id != nil {
		m.Note(id, convert.Changed, "is said when a run starts: pexctl run --memory-id ID")
	}
	m.NoteKeys(m.agent.Get("parameters"), []string{"memory_container_id", "memory_configuration", "memory_type"}, convert.Dropped, "memory lies in files beside the runs: there is no container to name")
}

// compaction converts context managers that the agent defines inline.
func (m *importer) compaction() {
	it := m.agent.Get("context_management").Decode()
	m.Note(m.agent.Get("context_management_name"), convert.Todo, "names settings of the cluster: write memory.compaction by hand")
	if it == nil || it.Kind != tree.Object {
		return
	}
	found := map[string]tree.Map{}
	hooks := it.Get("hooks").Decode()
	if hooks != nil {
		for _, managers := range hooks.Items {
			for _, manager := range managers.Decode().Items {
				m.contextManager(manager, found)
			}
		}
	}
	var out tree.Map
	for _, key := range []string{"truncate_tool_output", "summarize", "sliding_window"} {
		out.Put(key, found[key])
	}
	m.memory.Put("compaction", out)
	m.NoteUnused(it, "memory.compaction has no such setting")
	it.Use()
}

// contextManagers maps context managers to rules of memory.compaction, with the
// setting that both have.
var contextManagers = map[string]struct {
	name, theirs, ours string
	divide             int
	note               string
}{
	"SlidingWindowManager":       {"sliding_window", "max_messages", "keep", 2, "messages there are pairs here, half as many"},
	"SummarizationManager":       {"summarize", "preserve_recent_messages", "keep", 2, "messages there are pairs here, half as many"},
	"ToolsOutputTruncateManager": {"truncate_tool_output", "max_output_length", "max_bytes", 1, "characters there are bytes here, and head and tail are kept"},
}

// contextManager converts one of them: kind, settings, and when it applies.
func (m *importer) contextManager(it *tree.Value, found map[string]tree.Map) {
	rule, ok := contextManagers[it.Get("type").Peek()]
	if !ok {
		m.Note(it, convert.Dropped, "no rule of memory.compaction does what this manager does")
		return
	}
	var out tree.Map
	size := it.Get("config").Decode().Get(rule.theirs)
	if n, ok := size.UseInt(); ok && n > 0 {
		out.Put(rule.ours, max(n/rule.divide, 1))
		m.Note(size, convert.Changed, "%s", rule.note)
	}
	it.Get("type").Use()
	var when []string
	if n, ok := it.Get("activation", "tokens_exceed").UseInt(); ok {
		when = append(when, "memory.tokens > "+strconv.Itoa(n))
	}
	if n, ok := it.Get("activation", "message_count_exceed").UseInt(); ok {
		when = append(when, "memory.messages > "+strconv.Itoa(n))
	}
	out.Put("when", strings.Join(when, " && "))
	if len(out) > 0 {
		found[rule.name] = out
	} else {
		m.Note(it, convert.Changed, "memory.compaction.%s works by its own defaults only where it is written: write it by hand", rule.name)
	}
}
