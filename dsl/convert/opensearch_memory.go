package convert

import "strings"

// memorySection writes where conversations are kept.
func (m *importer) memorySection() {
	mem := m.agent.at("memory").unfold()
	if mem == nil && m.uses("notepad") {
		m.memory.put("backend", "badger")
		m.remind(m.from, "tools", Changed, "the agent has no memory and a scratch pad: memory.backend is badger here, which the tool notepad keeps its notes in; no earlier turn is shown")
		return
	}
	if mem == nil {
		m.memory.put("backend", "none")
		return
	}
	m.memory.put("backend", "badger")
	m.memory.put("history", true)
	it := mem.at("type")
	if mem.kind == text {
		it = mem
	}
	switch typ := strings.ToLower(it.peek()); typ {
	case "conversation_index":
		m.note(it, Changed, "becomes memory.backend: badger, files beside the runs; conversations of the cluster are not brought along")
	default:
		m.note(it, Changed, "becomes memory.backend: badger, files beside the runs: earlier turns of a conversation are kept, facts drawn from them (strategies, containers) are not")
	}
	for _, sub := range mem.left() {
		m.note(sub, Dropped, "a conversation has an id and turns here: pexctl run --memory-id ID")
	}
	mem.take()
	if id := m.agent.at("parameters", "memory_id"); id != nil {
		m.note(id, Changed, "is said when a run starts: pexctl run --memory-id ID")
	}
	for _, key := range []string{"memory_container_id", "memory_configuration", "memory_type"} {
		m.note(m.agent.at("parameters", key), Dropped, "memory lies in files beside the runs: there is no container to name")
	}
}

// compaction takes over the managers of a context, where they are written out.
func (m *importer) compaction() {
	it := m.agent.at("context_management").unfold()
	m.note(m.agent.at("context_management_name"), Todo, "names settings of the cluster: write memory.compaction by hand")
	if it == nil || it.kind != object {
		return
	}
	found := map[string]mapping{}
	hooks := it.at("hooks").unfold()
	if hooks != nil {
		for _, managers := range hooks.items {
			for _, manager := range managers.unfold().items {
				m.manager(manager, found)
			}
		}
	}
	var out mapping
	for _, key := range []string{"truncate_tool_output", "summarize", "sliding_window"} {
		out.put(key, found[key])
	}
	m.memory.put("compaction", out)
	m.rest(it, "memory.compaction has no such setting")
	it.take()
}

// manager is one of them: kind, settings, and when it works.
func (m *importer) manager(it *item, found map[string]mapping) {
	var out mapping
	config, name := it.at("config").unfold(), ""
	switch it.at("type").peek() {
	case "SlidingWindowManager":
		name = "sliding_window"
		if n, ok := config.at("max_messages").whole(); ok && n > 0 {
			out.put("keep", max(n/2, 1))
			m.note(config.at("max_messages"), Changed, "messages there are pairs here, half as many")
		}
	case "SummarizationManager":
		name = "summarize"
		if n, ok := config.at("preserve_recent_messages").whole(); ok && n > 0 {
			out.put("keep", max(n/2, 1))
			m.note(config.at("preserve_recent_messages"), Changed, "messages there are pairs here, half as many")
		}
	case "ToolsOutputTruncateManager":
		name = "truncate_tool_output"
		if n, ok := config.at("max_output_length").whole(); ok && n > 0 {
			out.put("max_bytes", n)
			m.note(config.at("max_output_length"), Changed, "characters there are bytes here, and head and tail are kept")
		}
	default:
		m.note(it, Dropped, "no rule of memory.compaction does what this manager does")
		return
	}
	it.at("type").take()
	var when []string
	if n, ok := it.at("activation", "tokens_exceed").whole(); ok {
		when = append(when, "memory.tokens > "+itoa(n))
	}
	if n, ok := it.at("activation", "message_count_exceed").whole(); ok {
		when = append(when, "memory.messages > "+itoa(n))
	}
	out.put("when", strings.Join(when, " && "))
	if len(out) > 0 {
		found[name] = out
	} else {
		m.note(it, Changed, "memory.compaction.%s works by its own defaults only where it is written: write it by hand", name)
	}
}
