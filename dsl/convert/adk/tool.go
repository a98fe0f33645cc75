package adk

import (
	"path"
	"strings"

	"github.com/pexctl/pex/dsl/convert"
	"github.com/pexctl/pex/dsl/convert/internal/draft"
	"github.com/pexctl/pex/dsl/convert/internal/tree"
	"github.com/pexctl/pex/engine/text"
)

func join(from, ref string) string { return path.Join(path.Dir(from), ref) }

// hostedTools are tools that run inside Gemini or ADK, and what to do instead.
var hostedTools = map[string]string{
	"google_search":           "the search runs inside Gemini: add the tool web_search, with a search service",
	"enterprise_web_search":   "the search runs inside Gemini: add the tool web_search, with a search service",
	"VertexAiSearchTool":      "add a tool of type http that calls the search service",
	"built_in_code_execution": "add the tool code, which runs programs in Starlark, or python",
	"exit_loop":               "a condition on an edge of the graph ends a loop",
	"load_memory":             "runs of one --memory-id share a conversation",
	"preload_memory":          "runs of one --memory-id share a conversation",
	"load_artifacts":          "add the tools read_file and list_files",
	"transfer_to_agent":       "sub-agents are tools",
}

// placeholder matches how a config refers to an environment variable.
var placeholder = text.Regexp(`\$\{([A-Za-z_][A-Za-z0-9_]*)\}`)

// tool converts an entry of tools and returns its name or glob; it returns ""
// if there is no counterpart.
func (c *project) tool(file string, it *tree.Value, inherited model) string {
	full := it.Get("name").Peek()
	name := full[strings.LastIndexByte(full, '.')+1:]
	switch name {
	case "url_context":
		it.Use()
		return c.AddTool("http_get", tree.Map{})
	case "get_user_choice", "get_user_choice_tool":
		it.Use()
		return c.AddTool("ask_user", tree.Map{})
	case "AgentTool":
		return c.agentTool(file, it, inherited)
	case "McpToolset", "MCPToolset", "MCPTool":
		return c.server(it)
	}
	if why := hostedTools[name]; why != "" {
		c.Note(it, convert.Todo, "%s", why)
		return ""
	}
	c.Note(it, convert.Todo, "%q is Python: add a tool of type command, http or mcp that does the same", tree.Clip(full))
	return ""
}

func (c *project) agentTool(file string, it *tree.Value, inherited model) string {
	it.Get("name").Use()
	at := argument(it, "agent").Get("config_path")
	if at == nil {
		c.Note(it, convert.Todo, "the agent is Python: write it as an agent of the spec")
		return ""
	}
	argument(it, "skip_summarization").Use()
	a := c.refer(file, at, inherited)
	if a == nil {
		return ""
	}
	return c.call(a)
}

// server converts an MCP toolset and returns a glob of its tools.
func (c *project) server(it *tree.Value) string {
	it.Get("name").Use()
	out := tree.Map{{Key: "type", Value: "mcp"}}
	name := "server"
	stdio := argument(it, "stdio_server_params")
	if at := argument(it, "stdio_connection_params"); at != nil {
		stdio = at.Get("server_params")
		if s := at.Get("timeout").UseSeconds(); s != "" {
			out.Put("start_timeout", s)
		}
	}
	remote := tree.First(argument(it, "streamable_http_connection_params"), argument(it, "sse_connection_params"), argument(it, "connection_params"))
	switch {
	case stdio.Get("command") != nil:
		name = c.program(&out, stdio)
	case remote.Get("url") != nil:
		out.Put("url", c.Setting(remote.Get("url"), "", "SERVER_URL", placeholder()))
		var headers tree.Map
		for key, v := range remote.Get("headers").Members() {
			headers.Put(key, c.Setting(v, key, tree.Variable("server", key), placeholder()))
		}
		out.Put("headers", headers)
		if argument(it, "sse_connection_params") != nil {
			c.NoteAt(it.File, it.Path, convert.Todo, "the server is called over streamable HTTP, not SSE: check its URL")
		}
	default:
		c.Note(it, convert.Todo, "the toolset names neither a command nor a URL: add a tool of type mcp")
		return ""
	}
	if filter := argument(it, "tool_filter"); filter != nil && filter.Kind == tree.List {
		out.Put("include", filter.Use().Native())
	}
	out.Put("approval", "never")
	c.NoteAt(it.File, it.Path, convert.Changed, "ADK asks no one before a tool call, so approval is never: approval: always, or an expression, asks")
	return c.AddTool(name, out) + "__*"
}

// program writes the command of a server and returns a name for the server.
func (c *project) program(out *tree.Map, stdio *tree.Value) string {
	words := []string{stdio.Get("command").UseText()}
	for _, v := range list(stdio.Get("args")) {
		words = append(words, v.Peek())
	}
	name := draft.ServerName(words)
	command := []any{tree.EscapeReferences(words[0])}
	for _, v := range list(stdio.Get("args")) {
		command = append(command, c.Setting(v, "", tree.Variable(name, "ARGUMENT"), placeholder()))
	}
	out.Put("command", command)
	var env tree.Map
	for key, v := range stdio.Get("env").Members() {
		env.Put(key, c.Setting(v, key, tree.Variable(key), placeholder()))
	}
	out.Put("env", env)
	return name
}
