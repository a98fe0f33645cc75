package dockeragent

import (
	"strings"

	"github.com/pexctl/pex/dsl/convert"
	"github.com/pexctl/pex/dsl/convert/internal/draft"
	"github.com/pexctl/pex/dsl/convert/internal/tree"
)

// server converts an MCP server and returns a glob of its tools.
func (c *config) server(it *tree.Value) []any {
	name := it.Get("name").UseText()
	def := it
	ref := it.Get("ref").UseText()
	if shared := c.root.Get("mcps", ref); ref != "" && shared != nil {
		name, def = ref, shared
		ref = shared.Get("ref").UseText()
	}
	out := tree.Map{{Key: "type", Value: "mcp"}}
	switch {
	case strings.HasPrefix(ref, "docker:"):
		image := strings.TrimPrefix(ref, "docker:")
		if name == "" {
			name = image
		}
		out.Put("command", []any{"docker", "mcp", "gateway", "run", "--servers=" + tree.EscapeReferences(image)})
		c.NoteAt(it.File, it.Path, convert.Changed, "the server %q of the Docker MCP catalog is started by docker mcp gateway run", tree.Clip(image))
	case def.Get("remote") != nil || def.Get("url") != nil:
		c.remote(&out, def, &name)
	case def.Get("command") != nil:
		command := def.Get("command").UseText()
		if name == "" {
			name = draft.ServerName(append([]string{command}, texts(def.Get("args"))...))
		}
		c.program(&out, def, name, command)
	default:
		c.Note(it, convert.Todo, "the toolset has neither command, remote nor a ref of the Docker catalog: add a tool of type mcp")
		return nil
	}
	c.environment(&out, def)
	if def != it {
		c.environment(&out, it)
	}
	only := tree.First(it.Get("tools"), def.Get("tools"))
	if only != nil && only.Kind == tree.List {
		out.Put("include", only.Use().Native())
	}
	def.Get("tools").Use()
	out.Put("approval", "always")
	c.noteDropped(def, toolsetKeys)
	c.NoteUnused(def, "a tool server has nothing like it")
	id := c.AddTool(name, out)
	c.noteOnce("calls of MCP tools ask for approval, as docker agent does by default: approval: never, or an expression, changes that", it)
	return []any{id + "__*"}
}

func (c *config) remote(out *tree.Map, def *tree.Value, name *string) {
	at := def
	if r := def.Get("remote"); r != nil {
		at = r
	}
	url := at.Get("url")
	if *name == "" {
		*name = "remote"
		if host := hostOf(url.Peek()); host != "" {
			*name = strings.ReplaceAll(strings.TrimPrefix(strings.TrimPrefix(host, "www."), "mcp."), ".", "-")
		}
	}
	out.Put("url", c.Setting(url, "", tree.Variable(*name, "URL"), placeholder()))
	var headers tree.Map
	for key, v := range at.Get("headers").Members() {
		headers.Put(key, c.Setting(v, key, tree.Variable(*name, key), placeholder()))
	}
	out.Put("headers", headers)
	if kind := at.Get("transport_type").UseText(); kind == "sse" {
		c.NoteAt(at.File, at.Path, convert.Todo, "the server is called over streamable HTTP, not SSE: check its URL")
	}
}

func (c *config) program(out *tree.Map, def *tree.Value, name, command string) {
	words := []any{tree.EscapeReferences(command)}
	if args := def.Get("args"); args != nil {
		for _, v := range args.Items {
			words = append(words, c.Setting(v, "", tree.Variable(name, "ARGUMENT"), placeholder()))
		}
	}
	out.Put("command", words)
}

// environment adds the environment of a server or of a toolset that refers to it.
func (c *config) environment(out *tree.Map, it *tree.Value) {
	env, _ := out.Get("env").(tree.Map)
	for key, v := range it.Get("env").Members() {
		if tree.Variable(key) != strings.ToUpper(key) {
			c.Note(v, convert.Todo, "%q is not the name of an environment variable: configure the server by docker mcp secret", tree.Clip(key))
			continue
		}
		env.Put(key, c.Setting(v, key, tree.Variable(key), placeholder()))
	}
	if out.Has("command") {
		out.Put("env", env)
	}
}

// texts returns the scalars of a list.
func texts(list *tree.Value) (out []string) {
	if list == nil {
		return nil
	}
	for _, it := range list.Items {
		out = append(out, it.Peek())
	}
	return out
}

// noteOnce notes something at the first place only.
func (c *config) noteOnce(what string, it *tree.Value) {
	for _, n := range c.Notes {
		if n.What == what {
			return
		}
	}
	c.NoteAt(it.File, it.Path, convert.Changed, "%s", what)
}

// hostOf returns the host name of a URL, which may contain ${variables}.
func hostOf(url string) string {
	url = strings.TrimPrefix(strings.TrimPrefix(url, "https://"), "http://")
	url, _, _ = strings.Cut(url, "/")
	host, _, _ := strings.Cut(url, ":")
	return host
}
