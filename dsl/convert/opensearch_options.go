package convert

import (
	"path"
	"slices"
	"strings"
)

// options takes over the agent's parameters that are settings: limits, the time
// in prompts, and those that only OpenSearch needs.
func (m *importer) options() {
	params, llm := m.agent.at("parameters"), m.agent.at("llm", "parameters")
	m.limit(params.at("max_steps"), "max_steps")
	if it := first(params.at("message_history_limit"), llm.at("message_history_limit")); m.memory.get("history") == true {
		m.limit(it, "message_history_limit")
	} else {
		m.note(it, Dropped, "the agent has no memory: no earlier turn is ever shown, there as here")
	}
	m.limit(params.at("executor_message_history_limit"), "executor_message_history_limit")
	for _, it := range []*item{params.at("executor_max_iterations"), params.at("executor_max_iteration"), params.at("max_iteration"), params.at("max_iterations"), llm.at("max_iteration"), llm.at("max_iterations")} {
		m.iterations(it)
	}
	m.selected(params.at("selected_tools").unfold())
	m.executorAgent(params.at("executor_agent_id"))
	m.executorPlayed()
	m.usualIterations()
	for _, n := range needless {
		for _, at := range []*item{params, llm, m.agent} {
			m.note(at.at(n.key), n.fate, "%s", n.what)
		}
	}
	m.question(params.at("question"))
}

func first(all ...*item) *item {
	for _, it := range all {
		if it != nil {
			return it
		}
	}
	return nil
}

// limit takes over a number; one below 1 is no limit here.
func (m *importer) limit(it *item, key string) {
	if it == nil {
		return
	}
	n, ok := it.whole()
	switch {
	case !ok:
		m.note(it, Todo, "is no whole number: limits.%s keeps its default", key)
	case n >= 1:
		m.limits.put(key, n)
	case n == 0 && key == "message_history_limit":
		m.memory.keep("history", false, "")
		m.note(it, Changed, "becomes memory.history: false: no earlier turn is shown")
	default:
		m.note(it, Dropped, "limits.%s is at least 1; it keeps its default", key)
	}
}

// iterations counts model calls here, and the turns of model and tools there.
func (m *importer) iterations(it *item) {
	if it == nil {
		return
	}
	n, ok := it.whole()
	if !ok || n < 1 {
		m.note(it, Todo, "is not a whole number above 0: limits.executor_max_iterations gets OpenSearch's default")
		return
	}
	m.limits.put("executor_max_iterations", (n+1)/2)
	m.note(it, Changed, "becomes limits.executor_max_iterations: %d: there a model's turn and a tool's turn count one each, here model calls are counted", (n+1)/2)
}

// usualIterations writes OpenSearch's default of executor_max_iterations, 20
// turns, where the source sets none: an agent keeps its bound whether or not the
// source spells it out.
func (m *importer) usualIterations() {
	if strings.ToLower(m.agent.at("type").peek()) != planned || m.limits.has("executor_max_iterations") {
		return
	}
	m.limits.put("executor_max_iterations", 10)
	m.remind(m.from, "parameters.executor_max_iterations", Changed,
		"is not set: limits.executor_max_iterations is 10, OpenSearch's default of 20 turns of model and tools, counted as model calls")
}

func (m *importer) selected(it *item) {
	if it == nil || it.kind != list {
		return
	}
	var names []any
	for _, sub := range it.items {
		switch name, offered := named(sub.peek(), ""), m.offered(sub.peek()); {
		case m.tools.has(name):
			names = append(names, name)
			sub.take()
		case len(offered) > 0:
			names = append(names, offered...)
			m.note(sub, Changed, "is none of the agent's own tools, and so taken for one of a tool server's: %s", offered)
		default:
			m.note(sub, Dropped, "no tool of the agent is called so")
		}
	}
	m.executor.put("tools", names)
	if it.take(); len(names) > 0 {
		m.unselected(names)
	}
}

// offered is a tool under the names that it has here if a server offers it.
func (m *importer) offered(name string) (out []any) {
	if !plainKey().MatchString(name) {
		return nil
	}
	for _, e := range m.tools {
		t, _ := e.value.(mapping)
		include, _ := t.get("include").([]any)
		if t.get("type") == "mcp" && (len(include) == 0 || slices.ContainsFunc(include, func(glob any) bool {
			ok, err := path.Match(glob.(string), name)
			return ok && err == nil
		})) {
			out = append(out, e.key+"__"+name)
		}
	}
	return out
}

// unselected says at each tool that stays away why no node may call it.
func (m *importer) unselected(names []any) {
	for i := range m.tools {
		called := func(name any) bool {
			return name == m.tools[i].key || strings.HasPrefix(name.(string), m.tools[i].key+"__")
		}
		if !slices.ContainsFunc(names, called) {
			m.tools[i].note = "pex:ignore PEX090 selected_tools leaves it out"
		}
	}
}

func (m *importer) executorAgent(it *item) {
	switch {
	case it == nil:
	case m.played != nil:
		m.note(it, Changed, "its agent was given: model, tools, prompt and iterations of it are the executor's")
	case m.executor.has("llm"):
		m.note(it, Changed, "the second connector is the executor's llm; what else that agent says has to be looked at")
	default:
		m.note(it, Todo, "is another agent, the one that carries out the steps: import again with --agent %s=FILE, the body of GET /_plugins/_ml/agents/%[1]s; by hand, its model is executor.llm, its system prompt executor.executor_system_prompt, its tools executor.tools and half its max_iteration limits.executor_max_iterations", clip(it.peek()))
	}
}

// question is the default of what is asked.
func (m *importer) question(it *item) {
	if s := it.word(); s != "" && !strings.Contains(s, "${") {
		m.parameters.put("question", mapping{{key: "type", value: "string"}, {key: "default", value: s}})
	}
}

// needless are keys that need nothing here, and why.
var needless = []struct {
	key  string
	fate Fate
	what string
}{
	{"no_escape_params", Dropped, "no value can break a request here, so that none needs an exception"},
	{"include_token_usage", Changed, "is always so: tokens and cost stand in each result (pexctl run -o json)"},
	{"disable_trace", Dropped, "each run has a journal, which is what it is resumed from"},
	{"verbose", Dropped, "is said when a run starts: pexctl run --include conversation"},
	{"async", Dropped, "is said when a run starts: pexctl run --detach"},
	{"stop_when_no_tool_found", Dropped, "a reply without a tool call ends a step; an unknown tool is told to the model"},
	{"llm_response_pattern", Dropped, "replies are read tolerantly; executor.mode: react_text reads tool calls in text"},
	{"tool_calls_pattern", Dropped, "providers read tool calls by themselves"},
	{"prompt.format_instruction", Dropped, "the executor says how to answer by itself"},
	{"prompt.tool_response", Dropped, "the executor words what a tool gave by itself"},
	{"prompt.chat_history_prefix", Dropped, "earlier turns are told by the planner's template"},
	{"prompt.disable_chat_history", Dropped, "memory.history says whether earlier turns are shown"},
	{"summarize_when_max_iteration", Dropped, "the executor decides by itself how a step ends that runs out of calls"},
	{"embedding_model_id", Todo, "is for a tool that the cluster runs: write it into body.parameters of that tool"},
	{"tool_response", Dropped, "the executor words what a tool gave by itself"},
	{"tool_call_id", Dropped, "providers read tool calls by themselves"},
	{"tool_template", Dropped, "providers describe tools by themselves"},
	{"tool_choice", Dropped, "the model chooses; output and plans are asked for by schema where the provider can"},
	{"llm_finish_reason_path", Dropped, "providers read why a reply ends by themselves"},
	{"llm_finish_reason_tool_use", Dropped, "providers read why a reply ends by themselves"},
	{"response_format_instruction", Dropped, "the executor says how to answer by itself"},
	{"regenerate_interaction_id", Dropped, "pexctl runs fork asks again from any point of a run"},
	{"parent_interaction_id", Dropped, "each run makes its own"},
	{"tenant_id", Dropped, "is the cluster's business"},
	{"is_hidden", Dropped, "is the cluster's business"},
	{"_tool_choice", Dropped, "the model chooses"},
	{"parallel_tool_calls", Changed, "tool calls of one turn may run side by side; executor.parallel_tool_calls: false says no"},
}

// own notes what the cluster wrote into the body.
func (m *importer) own() {
	for _, key := range written {
		m.note(m.agent.at(key), Dropped, "was written by the cluster")
	}
	m.clock()
}

// clock takes over whether prompts hold the time, and how it looks.
func (m *importer) clock() {
	params, llm := m.agent.at("parameters"), m.agent.at("llm", "parameters")
	inject := first(params.at("inject_datetime"), m.agent.at("inject_datetime"), llm.at("inject_datetime"))
	pattern := first(params.at("datetime_format"), m.agent.at("datetime_format"), llm.at("datetime_format"))
	yes, ok := inject.truth()
	switch {
	case inject != nil && !ok:
		m.note(inject, Todo, "is neither true nor false: write inject_datetime")
	case yes:
		m.injected = true
		m.note(inject, Changed, "both the planner's and the executor's prompt have the time; there it depends on the version: earlier ones put it only into the executor's")
	}
	if pattern != nil && !yes {
		m.note(pattern, Dropped, "inject_datetime is not on, so that no time is written")
	}
	if pattern == nil || !yes {
		return
	}
	format, err := strftimeOf(pattern.peek())
	if err != nil {
		m.note(pattern, Todo, "%s: write datetime_format by hand", err)
		return
	}
	m.format = format
	m.note(pattern, Changed, "Java's pattern becomes strftime directives: %s", format)
}
