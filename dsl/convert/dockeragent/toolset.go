package dockeragent

import (
	"slices"
	"strings"

	"github.com/pexctl/pex/dsl/convert"
	"github.com/pexctl/pex/dsl/convert/internal/tree"
)

// toolsets converts the toolsets of an agent, and adds their instructions to its
// system prompt.
func (c *config) toolsets(agent *tree.Value, system string) (names []any, prompt string) {
	at := agent.Get("toolsets")
	if at == nil {
		return nil, system
	}
	for _, it := range at.Items {
		if it.Kind != tree.Object {
			continue
		}
		for _, name := range c.toolset(it) {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
		if text := c.UseRedacted(it.Get("instruction")); text != "" {
			text = strings.TrimSpace(strings.ReplaceAll(text, "{ORIGINAL_INSTRUCTIONS}", ""))
			system = strings.TrimSpace(system + "\n\n" + text)
		}
		c.noteDropped(it, toolsetKeys)
		c.NoteUnused(it, "a tool has nothing like it")
	}
	return names, system
}

// toolset converts one toolset to tools and returns their names.
func (c *config) toolset(it *tree.Value) []any {
	kind := it.Get("type").Peek()
	if r, ok := toolsetReasons[kind]; ok {
		c.Note(it, r.outcome, "%s", r.why)
		return nil
	}
	it.Get("type").Use()
	switch kind {
	case "filesystem":
		return c.files(it)
	case "fetch":
		return []any{c.AddTool("http_get", tree.Map{})}
	case "todo":
		c.NoteAt(it.File, it.Path, convert.Changed, "the tool notepad keeps the list, as text")
		return []any{c.AddTool("notepad", tree.Map{})}
	case "memory":
		c.Note(it.Get("path"), convert.Dropped, "memory is kept in the home of runs, for each --memory-id")
		c.NoteAt(it.File, it.Path, convert.Changed, "the tool variables keeps named values for runs of the same --memory-id")
		return []any{c.AddTool("variables", tree.Map{})}
	case "user_prompt":
		return []any{c.AddTool("ask_user", tree.Map{})}
	case "script":
		return c.scripts(it)
	case "api":
		return c.api(it)
	case "mcp":
		return c.server(it)
	}
	c.Note(it, convert.Dropped, "pex has no toolset %q", tree.Clip(kind))
	return nil
}

// fileTools are the tools of the toolset filesystem, and their names there.
var fileTools = []struct {
	name   string
	origin []string
	writes bool
}{
	{"read_file", []string{"read_file", "read_multiple_files"}, false},
	{"list_files", []string{"list_directory", "directory_tree", "search_files"}, false},
	{"search_files", []string{"search_files_content"}, false},
	{"write_file", []string{"write_file", "edit_file", "create_directory"}, true},
}

func (c *config) files(it *tree.Value) (out []any) {
	only := it.Get("tools")
	for _, f := range fileTools {
		if only != nil && !slices.ContainsFunc(only.Items, func(v *tree.Value) bool { return slices.Contains(f.origin, v.Peek()) }) {
			continue
		}
		tool := tree.Map{}
		if f.writes {
			tool = tree.Map{{Key: "root", Value: "."}, {Key: "approval", Value: "always"}}
		}
		out = append(out, c.AddTool(f.name, tool))
	}
	only.Use()
	c.NoteAt(it.File, it.Path, convert.Changed, "file tools read and write below the folder of the spec: set root for another one; write_file replaces whole files and asks for approval")
	return out
}

// scripts converts commands of a shell, whose arguments are environment variables.
func (c *config) scripts(it *tree.Value) (out []any) {
	all := it.Get("shell")
	for name, s := range all.Members() {
		tool := tree.Map{{Key: "type", Value: "command"}}
		tool.Put("description", tree.Sentence(c.UseRedacted(s.Get("description"))))
		tool.Put("argv", []any{"sh", "-c", tree.EscapeReferences(strings.TrimSpace(c.UseRedacted(s.Get("cmd"))))})
		var env, properties tree.Map
		var required []any
		for name, arg := range s.Get("args").Members() {
			env.Put(name, "${args."+name+":-}")
			schema, _ := arg.Use().Native().(tree.Map)
			if !schema.Has("type") {
				schema = append(tree.Map{{Key: "type", Value: "string"}}, schema...)
			}
			properties.Put(name, schema)
		}
		if at := s.Get("required"); at != nil && at.Kind == tree.List {
			required = at.Use().Native().([]any)
		} else {
			for _, e := range properties {
				required = append(required, e.Key)
			}
		}
		for key, v := range s.Get("env").Members() {
			env.Put(key, c.Setting(v, key, tree.Variable(key), placeholder()))
		}
		tool.Put("env", env)
		if len(properties) > 0 {
			schema := tree.Map{{Key: "type", Value: "object"}, {Key: "properties", Value: properties}}
			schema.Put("required", required)
			tool.Put("input_schema", schema)
		}
		if dir := s.Get("working_dir").UseText(); dir != "" {
			tool.Put("cwd", dir)
		}
		tool.Put("approval", "always")
		out = append(out, c.AddTool(name, tool))
	}
	if len(out) > 0 {
		c.NoteAt(all.File, all.Path, convert.Changed, "scripts run by sh with arguments as environment variables, in the folder of the spec, and ask for approval; name what else they need of the environment under env, as NAME: ${env.NAME}")
	}
	return out
}

// api converts an HTTP endpoint.
func (c *config) api(it *tree.Value) []any {
	at := it.Get("api_config")
	if at == nil {
		return nil
	}
	name := at.Get("name").UseText()
	tool := tree.Map{{Key: "type", Value: "http"}}
	tool.Put("description", tree.Sentence(c.UseRedacted(at.Get("instruction"))))
	method := strings.ToUpper(at.Get("method").UseText())
	tool.Put("method", method)
	args := at.Get("args")
	url := c.Setting(at.Get("endpoint"), "", tree.Variable(name, "URL"), placeholder())
	if args != nil {
		for key := range args.Members() {
			url = strings.ReplaceAll(url, "${env."+key+"}", "${args."+key+"}")
		}
	}
	tool.Put("url", url)
	var headers tree.Map
	for key, v := range at.Get("headers").Members() {
		headers.Put(key, c.Setting(v, key, tree.Variable(name, key), placeholder()))
	}
	tool.Put("headers", headers)
	if args != nil && args.Kind == tree.Object {
		schema := tree.Map{{Key: "type", Value: "object"}, {Key: "properties", Value: args.Use().Native()}}
		if r := at.Get("required"); r != nil {
			schema.Put("required", r.Use().Native())
		}
		tool.Put("input_schema", schema)
		if method != "" && method != "GET" {
			var body tree.Map
			for key := range args.Members() {
				body.Put(key, "${args."+key+"}")
			}
			tool.Put("body", body)
		}
	}
	if method == "" || method == "GET" {
		tool.Put("effect", "read")
	} else {
		tool.Put("approval", "always")
	}
	c.Note(at.Get("output_schema"), convert.Dropped, "tools have no output schema; response_filter selects parts of the response")
	return []any{c.AddTool(name, tool)}
}
