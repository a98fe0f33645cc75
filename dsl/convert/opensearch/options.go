package opensearch

import (
	"path"
	"slices"
	"strings"

	"github.com/pexctl/pex/dsl/convert"
	"github.com/pexctl/pex/dsl/convert/internal/tree"
)

// options converts the agent's parameters that are settings: limits, the time in
// prompts, and those that only OpenSearch needs.
func (m *importer) options() {
	params, llm := m.agent.Get("parameters"), m.agent.Get("llm", "parameters")
	m.limit(params.Get("max_steps"), "max_steps")
	if it := tree.First(params.Get("message_history_limit"), llm.Get("message_history_limit")); m.memory.Get("history") == true {
		m.limit(it, "message_history_limit")
	} else {
		m.Note(it, convert.Dropped, "the agent has no memory: no earlier turn is ever shown, there as here")
	}
	m.limit(params.Get("executor_message_history_limit"), "executor_message_history_limit")
	for _, it := range []*tree.Value{params.Get("executor_max_iterations"), params.Get("executor_max_iteration"), params.Get("max_iteration"), params.Get("max_iterations"), llm.Get("max_iteration"), llm.Get("max_iterations")} {
		m.iterations(it)
	}
	m.selected(params.Get("selected_tools").Decode())
	m.noteExecutorAgent(params.Get("executor_agent_id"))
	m.executorSettings()
	m.defaultIterations()
	for _, n := range droppedParameters {
		for _, at := range []*tree.Value{params, llm, m.agent} {
			m.Note(at.Get(n.key), n.fate, "%s", n.what)
		}
	}
	m.question(params.Get("question"))
}

// limit converts a number. A value below 1 means no limit in the spec.
func (m *importer) limit(it *tree.Value, key string) {
	if it == nil {
		return
	}
	n, ok := it.UseInt()
	switch {
	case !ok:
		m.Note(it, convert.Todo, "is no whole number: limits.%s keeps its default", key)
	case n >= 1:
		m.limits.Put(key, n)
	case n == 0 && key == "message_history_limit":
		m.memory.Set("history", false, "")
		m.Note(it, convert.Changed, "becomes memory.history: false: no earlier turn is shown")
	default:
		m.Note(it, convert.Dropped, "limits.%s is at least 1; it keeps its default", key)
	}
}

// iterations converts turns of model and tools to model calls.
func (m *importer) iterations(it *tree.Value) {
	if it == nil {
		return
	}
	n, ok := it.UseInt()
	if !ok || n < 1 {
		m.Note(it, convert.Todo, "is not a whole number above 0: limits.executor_max_iterations gets OpenSearch's default")
		return
	}
	m.limits.Put("executor_max_iterations", (n+1)/2)
	m.Note(it, convert.Changed, "becomes limits.executor_max_iterations: %d: there a model's turn and a tool's turn count one each, here model calls are counted", (n+1)/2)
}

// defaultIterations writes OpenSearch's default of executor_max_iterations, 20
// turns, if the source sets none. The agent then has the same limit whether or
// not the source spells it out.
func (m *importer) defaultIterations() {
	if strings.ToLower(m.agent.Get("type").Peek()) != planned || m.limits.Has("executor_max_iterations") {
		return
	}
	m.limits.Put("executor_max_iterations", 10)
	m.NoteAt(m.from, "parameters.executor_max_iterations", convert.Changed,
		"is not set: limits.executor_max_iterations is 10, OpenSearch's default of 20 turns of model and tools, counted as model calls")
}

func (m *importer) selected(it *tree.Value) {
	if it == nil || it.Kind != tree.List {
		return
	}
	var names []any
	for _, sub := range it.Items {
		switch name, offered := toName(sub.Peek(), ""), m.serverTools(sub.Peek()); {
		case m.tools.Has(name):
			names = append(names, name)
			sub.Use()
		case len(offered) > 0:
			names = append(names, offered...)
			m.Note(sub, convert.Changed, "is none of the agent's own tools, and so taken for one of a tool server's: %s", offered)
		default:
			m.Note(sub, convert.Dropped, "no tool of the agent is called so")
		}
	}
	m.executor.Put("tools", names)
	if it.Use(); len(names) > 0 {
		m.commentUnselected(names)
	}
}

// serverTools returns the names that a tool has in the spec if a server offers
// it.
func (m *importer) serverTools(name string) (out []any) {
	if !tree.PlainKey().MatchString(name) {
		return nil
	}
	for _, e := range m.tools {
		t, _ := e.Value.(tree.Map)
		include, _ := t.Get("include").([]any)
		if t.Get("type") == "mcp" && (len(include) == 0 || slices.ContainsFunc(include, func(glob any) bool {
			ok, err := path.Match(glob.(string), name)
			return ok && err == nil
		})) {
			out = append(out, e.Key+"__"+name)
		}
	}
	return out
}

// commentUnselected adds a comment to each unselected tool, with the reason why
// no node may call it.
func (m *importer) commentUnselected(names []any) {
	for i := range m.tools {
		called := func(name any) bool {
			return name == m.tools[i].Key || strings.HasPrefix(name.(string), m.tools[i].Key+"__")
		}
		if !slices.ContainsFunc(names, called) {
			m.tools[i].Comment = "pex:ignore PEX090 selected_tools leaves it out"
		}
	}
}

func (m *importer) noteExecutorAgent(it *tree.Value) {
	switch {
	case it == nil:
	case m.executorAgent != nil:
		m.Note(it, convert.Changed, "its agent was given: model, tools, prompt and iterations of it are the executor's")
	case m.executor.Has("llm"):
		m.Note(it, convert.Changed, "the second connector is the executor's llm; what else that agent says has to be looked at")
	default:
		m.Note(it, convert.Todo, "is another agent, the one that carries out the steps: import again with --agent %s=FILE, the body of GET /_plugins/_ml/agents/%[1]s; by hand, its model is executor.llm, its system prompt executor.executor_system_prompt, its tools executor.tools and half its max_iteration limits.executor_max_iterations", tree.Clip(it.Peek()))
	}
}

// question converts the default question.
func (m *importer) question(it *tree.Value) {
	if s := it.UseText(); s != "" && !strings.Contains(s, "${") {
		m.parameters.Put("question", tree.Map{{Key: "type", Value: "string"}, {Key: "default", Value: s}})
	}
}

// droppedParameters are keys that need no counterpart, with the reason.
var droppedParameters = []struct {
	key  string
	fate convert.Outcome
	what string
}{
	{"no_escape_params", convert.Dropped, "no value can break a request here, so that none needs an exception"},
	{"include_token_usage", convert.Changed, "always on: every result has tokens and cost (pexctl run -o json)"},
	{"disable_trace", convert.Dropped, "each run has a journal, which is what it is resumed from"},
	{"verbose", convert.Dropped, "is said when a run starts: pexctl run --include conversation"},
	{"async", convert.Dropped, "is said when a run starts: pexctl run --detach"},
	{"stop_when_no_tool_found", convert.Dropped, "a reply without a tool call ends a step; the model is informed about an unknown tool"},
	{"llm_response_pattern", convert.Dropped, "replies are read tolerantly; executor.mode: react_text reads tool calls in text"},
	{"tool_calls_pattern", convert.Dropped, "providers read tool calls by themselves"},
	{"prompt.format_instruction", convert.Dropped, "the executor says how to answer by itself"},
	{"prompt.tool_response", convert.Dropped, "the executor words what a tool gave by itself"},
	{"prompt.chat_history_prefix", convert.Dropped, "the planner's template includes earlier turns"},
	{"prompt.disable_chat_history", convert.Dropped, "memory.history says whether earlier turns are shown"},
	{"summarize_when_max_iteration", convert.Dropped, "the executor decides by itself how a step ends that runs out of calls"},
	{"embedding_model_id", convert.Todo, "is for a tool that the cluster runs: write it into body.parameters of that tool"},
	{"tool_response", convert.Dropped, "the executor words what a tool gave by itself"},
	{"tool_call_id", convert.Dropped, "providers read tool calls by themselves"},
	{"tool_template", convert.Dropped, "providers describe tools by themselves"},
	{"tool_choice", convert.Dropped, "the model chooses; output and plans are asked for by schema where the provider can"},
	{"llm_finish_reason_path", convert.Dropped, "providers read why a reply ends by themselves"},
	{"llm_finish_reason_tool_use", convert.Dropped, "providers read why a reply ends by themselves"},
	{"response_format_instruction", convert.Dropped, "the executor says how to answer by itself"},
	{"regenerate_interaction_id", convert.Dropped, "pexctl runs fork asks again from any point of a run"},
	{"parent_interaction_id", convert.Dropped, "each run makes its own"},
	{"tenant_id", convert.Dropped, "is the cluster's business"},
	{"is_hidden", convert.Dropped, "is the cluster's business"},
	{"_tool_choice", convert.Dropped, "the model chooses"},
	{"parallel_tool_calls", convert.Changed, "tool calls of one turn may run side by side; executor.parallel_tool_calls: false says no"},
}

// noteClusterKeys notes the keys that the cluster added.
func (m *importer) noteClusterKeys() {
	m.NoteKeys(m.agent, clusterKeys, convert.Dropped, "was written by the cluster")
	m.datetime()
}

// datetime converts whether prompts contain the time, and its format.
func (m *importer) datetime() {
	params, llm := m.agent.Get("parameters"), m.agent.Get("llm", "parameters")
	inject := tree.First(params.Get("inject_datetime"), m.agent.Get("inject_datetime"), llm.Get("inject_datetime"))
	pattern := tree.First(params.Get("datetime_format"), m.agent.Get("datetime_format"), llm.Get("datetime_format"))
	yes, ok := inject.UseBool()
	switch {
	case inject != nil && !ok:
		m.Note(inject, convert.Todo, "is neither true nor false: write inject_datetime")
	case yes:
		m.injectsTime = true
		m.Note(inject, convert.Changed, "both the planner's and the executor's prompt have the time; there it depends on the version: earlier ones put it only into the executor's")
	}
	if pattern != nil && !yes {
		m.Note(pattern, convert.Dropped, "inject_datetime is not on, so that no time is written")
	}
	if pattern == nil || !yes {
		return
	}
	format, err := strftimeOf(pattern.Peek())
	if err != nil {
		m.Note(pattern, convert.Todo, "%s: write datetime_format by hand", err)
		return
	}
	m.format = format
	m.Note(pattern, convert.Changed, "Java's pattern becomes strftime directives: %s", format)
}
