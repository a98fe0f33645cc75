package convert

import (
	"slices"
	"strings"
)

// offers says whether a server has tools: one that is said to have prompts or
// resources alone has none.
func offers(c *component) bool {
	all := c.it.at("capabilities")
	return all == nil || len(all.items) == 0 || slices.ContainsFunc(all.items, func(it *item) bool { return it.peek() == "tools" })
}

// server is a tool server as an entry of tools.
func (m *project) server(c *component) mapping {
	var out mapping
	c.used = true
	out.put("type", "mcp")
	m.note(c.it.at("description"), Dropped, "a server has no description: its tools have")
	switch {
	case c.it.at("http_endpoint") != nil:
		m.remote(&out, c)
	case c.it.at("url") != nil:
		out.put("url", m.address(c.it.at("url"), variable(c.id, "URL")))
		m.headers(&out, c)
	default:
		m.program(&out, c)
	}
	m.transport(c, out.has("url"))
	m.variables(&out, c)
	m.left(&out, c)
	out.put("approval", "never")
	m.once(c, "Aurite asks nobody before a tool runs, so approval is never; a tool is taken for a write unless overrides.<tool>.effect says less")
	m.remind(c.it.file, c.it.path, Changed, "its tools are called %s__NAME, where Aurite calls them %s-NAME: prompts that name them so need a look", c.id, oneLine(c.name))
	m.times(&out, c)
	m.rest(c.it, "a tool server has no such key here")
	return sorted(out)
}

// times writes how long a call and the start may take.
func (m *project) times(out *mapping, c *component) {
	for _, key := range []struct{ from, to string }{{"timeout", "timeout"}, {"registration_timeout", "start_timeout"}} {
		it := c.it.at(key.from)
		if it == nil {
			continue
		}
		s := it.seconds()
		if s == "" {
			m.note(it, Todo, "it should be a number of seconds, and was left out")
		}
		out.put(key.to, s)
	}
}

// once is a note on all servers, at the first.
func (m *project) once(c *component, what string) {
	if !slices.ContainsFunc(m.notes, func(n Note) bool { return n.What == what }) {
		m.remind(c.it.file, c.it.path, Changed, "%s", what)
	}
}

// serverKeys is the order in which a server's keys are written.
var serverKeys = []string{"type", "command", "cwd", "url", "env", "headers", "exclude", "approval", "timeout", "start_timeout"}

func sorted(m mapping) mapping {
	slices.SortStableFunc(m, func(a, b entry) int { return slices.Index(serverKeys, a.key) - slices.Index(serverKeys, b.key) })
	return m
}

// remote writes a server at an address.
func (m *project) remote(out *mapping, c *component) {
	out.put("url", m.address(c.it.at("http_endpoint"), variable(c.id, "URL")))
	m.headers(out, c)
}

func (m *project) headers(out *mapping, c *component) {
	at := c.it.at("headers")
	if at == nil || at.kind != object {
		return
	}
	var headers mapping
	for i, it := range at.items {
		headers.put(at.keys[i], m.setting(it, at.keys[i], variable(c.id, at.keys[i])))
	}
	out.put("headers", headers)
}

// program writes a server that is started: a script by python, as Aurite does,
// or any command.
func (m *project) program(out *mapping, c *component) {
	script, command := c.it.at("server_path"), c.it.at("command")
	var words []any
	switch {
	case command != nil:
		words = append(words, unfolded(command.word()))
	case script != nil:
		words = append(words, "python", unfolded(script.word()))
		m.note(script, Todo, "the path is relative to the new folder, and python is what PATH finds: copy the script there, or set cwd")
	default:
		words = append(words, unnamed)
		m.remind(c.it.file, c.it.path, Todo, "it has neither a program nor an address: write the command where %s stands", unnamed)
	}
	out.put("command", append(words, m.args(c)...))
	m.once(c, "Aurite hands its whole environment to a server; here each gets PATH, HOME, LANG and TMPDIR: name what else it needs under env, as NAME: ${env.NAME}")
}

// args are the arguments of a command; a flag says what the next one is.
func (m *project) args(c *component) (out []any) {
	at := c.it.at("args")
	if at == nil || at.kind != list {
		return nil
	}
	before := ""
	for _, it := range at.items {
		name := strings.TrimLeft(before, "-")
		if name == before || strings.Contains(before, "=") {
			name = ""
		}
		before = it.peek()
		flag, _, _ := strings.Cut(strings.TrimLeft(before, "-"), "=")
		switch {
		case name != "":
			flag = name
		case !strings.HasPrefix(before, "-"):
			flag = "argument" // what it says may be the secret
		}
		if strings.HasPrefix(before, "-") && !strings.Contains(before, "=") {
			name = "" // a flag by itself is no value
		}
		out = append(out, m.setting(it, name, variable(c.id, flag)))
	}
	return out
}

// transport takes the kind of transport, which here is told by the keys.
func (m *project) transport(c *component, remote bool) {
	at := c.it.at("transport_type")
	if at == nil {
		return
	}
	switch at.peek() {
	case "stdio", "local":
		if !remote {
			at.take()
			return
		}
	case "http_stream", "streamable_http", "http", "sse":
		if remote {
			at.take()
			return
		}
	}
	m.note(at, Changed, "command or url say here how a server is reached")
}

// variables writes what a server gets of the environment.
func (m *project) variables(out *mapping, c *component) {
	var env mapping
	if at := c.it.at("env"); at != nil && at.kind == object {
		for i, it := range at.items {
			env.put(at.keys[i], m.setting(it, at.keys[i], variable(at.keys[i])))
		}
	}
	if at := c.it.at("gcp_secrets"); at != nil {
		for _, it := range at.items {
			if name := it.at("env_var_name").word(); name != "" {
				env.put(variable(name), "${env."+variable(name)+"}")
			}
		}
		m.note(at, Todo, "secrets are not fetched from a secret manager: export the variables before the run")
	}
	if out.has("command") {
		out.put("env", env)
	} else if len(env) > 0 {
		m.note(c.it.at("env"), Dropped, "a server at an address has no environment")
	}
}

// left writes what is left out, and notes what a model never sees.
func (m *project) left(out *mapping, c *component) {
	var names []any
	if at := c.it.at("exclude"); at != nil {
		for _, it := range at.items {
			name := it.word()
			if strings.Contains(name, "://") {
				m.note(it, Dropped, "resources are no tools here unless resources: true makes tools of them")
				continue
			}
			names = append(names, strings.TrimPrefix(name, c.name+"-"))
		}
	}
	out.put("exclude", names)
	if at := c.it.at("capabilities"); at != nil {
		for _, it := range at.items {
			if it.peek() == "tools" {
				it.take()
				continue
			}
			m.note(it, Dropped, "Aurite's loop shows a model tools alone, and so does this spec; prompts: [\"*\"] and resources: true make tools of the others")
		}
	}
	m.note(c.it.at("roots"), Dropped, "it describes the server and is not sent to it; the folders that a server may be told of are under roots here")
	m.note(c.it.at("routing_weight"), Dropped, "there is no choice between servers: each tool is one server's")
	m.note(c.it.at("registration_type"), Dropped, "a server is started when a run first needs it")
}
