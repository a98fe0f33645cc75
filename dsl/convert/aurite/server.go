package aurite

import (
	"slices"
	"strings"

	"github.com/pexctl/pex/dsl/convert"
	"github.com/pexctl/pex/dsl/convert/internal/tree"
)

// hasTools reports whether a server has tools. A server that lists only prompts
// or resources has none.
func hasTools(c *component) bool {
	all := c.it.Get("capabilities")
	return all == nil || len(all.Items) == 0 || slices.ContainsFunc(all.Items, func(it *tree.Value) bool { return it.Peek() == "tools" })
}

// server converts a tool server to an entry of tools.
func (m *project) server(c *component) tree.Map {
	var out tree.Map
	c.used = true
	out.Put("type", "mcp")
	m.Note(c.it.Get("description"), convert.Dropped, "a server has no description: its tools have")
	switch {
	case c.it.Get("http_endpoint") != nil:
		m.remote(&out, c)
	case c.it.Get("url") != nil:
		out.Put("url", m.address(c.it.Get("url"), tree.Variable(c.id, "URL")))
		m.headers(&out, c)
	default:
		m.program(&out, c)
	}
	m.transport(c, out.Has("url"))
	m.variables(&out, c)
	m.exclusions(&out, c)
	out.Put("approval", "never")
	m.noteOnce(c, "Aurite requires no approval before tool calls, so approval is never; tools count as writing unless overrides.<tool>.effect says otherwise")
	m.NoteAt(c.it.File, c.it.Path, convert.Changed, "its tools are called %s__NAME, where Aurite calls them %s-NAME: prompts that name them so need a look", c.id, tree.OneLine(c.name))
	m.timeouts(&out, c)
	m.NoteUnused(c.it, "a tool server has no such key here")
	return sortServerKeys(out)
}

// timeouts writes the timeouts of calls and of the start.
func (m *project) timeouts(out *tree.Map, c *component) {
	for _, key := range []struct{ from, to string }{{"timeout", "timeout"}, {"registration_timeout", "start_timeout"}} {
		it := c.it.Get(key.from)
		if it == nil {
			continue
		}
		s := it.UseSeconds()
		if s == "" {
			m.Note(it, convert.Todo, "it should be a number of seconds, and was left out")
		}
		out.Put(key.to, s)
	}
}

// noteOnce adds a note about all servers to the first one.
func (m *project) noteOnce(c *component, what string) {
	if !slices.ContainsFunc(m.Notes, func(n convert.Note) bool { return n.What == what }) {
		m.NoteAt(c.it.File, c.it.Path, convert.Changed, "%s", what)
	}
}

// serverKeys is the order of a server's keys.
var serverKeys = []string{"type", "command", "cwd", "url", "env", "headers", "exclude", "approval", "timeout", "start_timeout"}

func sortServerKeys(m tree.Map) tree.Map {
	slices.SortStableFunc(m, func(a, b tree.Entry) int { return slices.Index(serverKeys, a.Key) - slices.Index(serverKeys, b.Key) })
	return m
}

// remote writes a server with an address.
func (m *project) remote(out *tree.Map, c *component) {
	out.Put("url", m.address(c.it.Get("http_endpoint"), tree.Variable(c.id, "URL")))
	m.headers(out, c)
}

func (m *project) headers(out *tree.Map, c *component) {
	at := c.it.Get("headers")
	if at == nil || at.Kind != tree.Object {
		return
	}
	var headers tree.Map
	for i, it := range at.Items {
		headers.Put(at.Keys[i], m.setting(it, at.Keys[i], tree.Variable(c.id, at.Keys[i])))
	}
	out.Put("headers", headers)
}

// program writes a server that is started: a Python script, as in Aurite, or any
// command.
func (m *project) program(out *tree.Map, c *component) {
	script, command := c.it.Get("server_path"), c.it.Get("command")
	var words []any
	switch {
	case command != nil:
		words = append(words, tree.EscapeReferences(command.UseText()))
	case script != nil:
		words = append(words, "python", tree.EscapeReferences(script.UseText()))
		m.Note(script, convert.Todo, "the path is relative to the new folder, and python is what PATH finds: copy the script there, or set cwd")
	default:
		words = append(words, placeholderModel)
		m.NoteAt(c.it.File, c.it.Path, convert.Todo, "it has neither a program nor an address: write the command where %s stands", placeholderModel)
	}
	out.Put("command", append(words, m.args(c)...))
	m.noteOnce(c, "Aurite hands its whole environment to a server; here each gets PATH, HOME, LANG and TMPDIR: name what else it needs under env, as NAME: ${env.NAME}")
}

// args returns the arguments of a command. A flag names the argument after it.
func (m *project) args(c *component) (out []any) {
	at := c.it.Get("args")
	if at == nil || at.Kind != tree.List {
		return nil
	}
	before := ""
	for _, it := range at.Items {
		name := strings.TrimLeft(before, "-")
		if name == before || strings.Contains(before, "=") {
			name = ""
		}
		before = it.Peek()
		flag, _, _ := strings.Cut(strings.TrimLeft(before, "-"), "=")
		switch {
		case name != "":
			flag = name
		case !strings.HasPrefix(before, "-"):
			flag = "argument" // the value after the flag may be the secret
		}
		if strings.HasPrefix(before, "-") && !strings.Contains(before, "=") {
			name = "" // a flag itself is not a secret
		}
		out = append(out, m.setting(it, name, tree.Variable(c.id, flag)))
	}
	return out
}

// transport uses the kind of transport, which the keys of the spec imply.
func (m *project) transport(c *component, remote bool) {
	at := c.it.Get("transport_type")
	if at == nil {
		return
	}
	switch at.Peek() {
	case "stdio", "local":
		if !remote {
			at.Use()
			return
		}
	case "http_stream", "streamable_http", "http", "sse":
		if remote {
			at.Use()
			return
		}
	}
	m.Note(at, convert.Changed, "command or url say here how a server is reached")
}

// variables writes the environment variables of a server.
func (m *project) variables(out *tree.Map, c *component) {
	var env tree.Map
	if at := c.it.Get("env"); at != nil && at.Kind == tree.Object {
		for i, it := range at.Items {
			env.Put(at.Keys[i], m.setting(it, at.Keys[i], tree.Variable(at.Keys[i])))
		}
	}
	if at := c.it.Get("gcp_secrets"); at != nil {
		for _, it := range at.Items {
			if name := it.Get("env_var_name").UseText(); name != "" {
				env.Put(tree.Variable(name), "${env."+tree.Variable(name)+"}")
			}
		}
		m.Note(at, convert.Todo, "secrets are not fetched from a secret manager: export the variables before the run")
	}
	if out.Has("command") {
		out.Put("env", env)
	} else if len(env) > 0 {
		m.Note(c.it.Get("env"), convert.Dropped, "a server at an address has no environment")
	}
}

// exclusions writes the excluded tools, and notes components that a model never
// sees.
func (m *project) exclusions(out *tree.Map, c *component) {
	var names []any
	if at := c.it.Get("exclude"); at != nil {
		for _, it := range at.Items {
			name := it.UseText()
			if strings.Contains(name, "://") {
				m.Note(it, convert.Dropped, "resources are no tools here unless resources: true makes tools of them")
				continue
			}
			names = append(names, strings.TrimPrefix(name, c.name+"-"))
		}
	}
	out.Put("exclude", names)
	if at := c.it.Get("capabilities"); at != nil {
		for _, it := range at.Items {
			if it.Peek() == "tools" {
				it.Use()
				continue
			}
			m.Note(it, convert.Dropped, "Aurite's loop shows a model tools alone, and so does this spec; prompts: [\"*\"] and resources: true make tools of the others")
		}
	}
	m.Note(c.it.Get("roots"), convert.Dropped, "it describes the server and is not sent to it; here roots lists the folders that a server may know")
	m.Note(c.it.Get("routing_weight"), convert.Dropped, "there is no choice between servers: each tool is one server's")
	m.Note(c.it.Get("registration_type"), convert.Dropped, "a server is started when a run first needs it")
}
