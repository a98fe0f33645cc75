package dockeragent

import "github.com/pexctl/pex/dsl/convert"

// reason explains why a key has no counterpart, or what to do by hand.
type reason struct {
	key     string
	outcome convert.Outcome
	why     string
}

var topReasons = []reason{
	{"metadata", convert.Dropped, "metadata of a spec has a version and labels: write there what is to be kept"},
	{"permissions", convert.Todo, "permissions are not converted: calls that write need approval here; write approval under a tool, or guards: [{at: before_tool, when: ..., do: deny}], for what is allowed and denied"},
	{"budget", convert.Todo, "set limits.max_cost, max_tokens and max_duration instead"},
	{"budgets", convert.Todo, "set limits.max_cost, max_tokens and max_duration instead"},
}

var agentReasons = []reason{
	{"add_environment_info", convert.Dropped, "prompts do not contain the platform and the working directory"},
	{"welcome_message", convert.Dropped, "pexctl run prints no welcome message"},
	{"hooks", convert.Dropped, "pex runs no hooks: guards decide before and after tool calls, and pexctl run --events reports what happens"},
	{"skills", convert.Dropped, "pex has no skills"},
	{"code_mode_tools", convert.Dropped, "models call tools directly; the tool code runs programs in Starlark"},
	{"num_history_items", convert.Dropped, "limits.executor_message_history_limit and memory.compaction shorten conversations"},
	{"budgets", convert.Todo, "set limits.max_cost, max_tokens and max_duration instead"},
}

// toolsetReasons are the types of toolsets without a counterpart.
var toolsetReasons = map[string]reason{
	"shell":             {"shell", convert.Todo, "pex gives a model no shell: add a tool of type command for each program that the agent needs"},
	"think":             {"think", convert.Dropped, "a think tool only records thoughts: the model thinks in its reply"},
	"background_agents": {"background_agents", convert.Changed, "sub-agents are tools here, and tool calls of one turn run in parallel"},
	"model_picker":      {"model_picker", convert.Dropped, "a model does not choose its own model: executor.llm and fallback do"},
	"lsp":               {"lsp", convert.Todo, "pex does not start language servers: use an MCP server that does, as a tool of type mcp"},
	"openapi":           {"openapi", convert.Todo, "operations of an OpenAPI document are not tools by themselves: add a tool of type http for each that the agent needs"},
	"a2a":               {"a2a", convert.Todo, "pex does not speak A2A: reach the other agent by a tool of type http or mcp"},
	"tasks":             {"tasks", convert.Dropped, "pex has no task list; the tool notepad keeps notes"},
}

// toolsetKeys are keys of toolsets that have no counterpart.
var toolsetKeys = []reason{
	{"defer", convert.Dropped, "tools are loaded when the run starts"},
	{"toon", convert.Dropped, "results of tools are not re-encoded; output_filter selects parts of them"},
	{"version", convert.Dropped, "pex installs no programs: the command must be on PATH"},
	{"config", convert.Todo, "configure the server itself: docker mcp config"},
	{"model", convert.Dropped, "one llm serves the whole loop: no other one reads the results of a tool"},
	{"shared", convert.Dropped, "notes are kept for each agent"},
	{"post_edit", convert.Dropped, "pex runs no command after an edit"},
	{"ignore_vcs", convert.Dropped, "list_files and search_files do not read ignore files"},
	{"lifecycle", convert.Dropped, "a server is started when a run first needs it"},
}
