package convert

import (
	"net/url"
	"slices"
	"strings"
)

// mcp writes the tool servers that the agent names, each with the connector of
// its id, or else the next that leads to one.
func (m *importer) mcp() {
	entries := m.agent.at("parameters", "mcp_connectors").unfold()
	if entries == nil || entries.kind != list {
		return
	}
	for _, e := range entries.items {
		if e.unfold(); e.kind != object {
			continue
		}
		id := e.at("mcp_connector_id")
		c := m.serverFor(id.peek())
		var out mapping
		out.put("type", "mcp")
		given := id.peek()
		if c != nil {
			if name := c.body.at("name").peek(); name != "" {
				given = name
			}
			m.server(&out, c)
			m.note(id, Changed, "is a name of the cluster's; the tool has the address of the connector that was given")
		} else {
			variable := "MCP_URL_" + screaming(named(given, "server"))
			out.put("url", "${env."+variable+"}")
			m.note(id, Todo, "is a name of the cluster's: set %s to the server's address, or import again with --connector", variable)
		}
		name := m.freeServer(given)
		m.filters(&out, e)
		m.descriptions(&out, e)
		out.put("approval", "never")
		m.tools.keep(name, out, "")
		m.remind(e.file, e.path, Changed, "the server's tools are called %s__TOOL here; nobody is asked before one that writes (approval: never), as there", name)
		e.take()
	}
}

var underscores = lazily(`_+`)

// freeServer is a name for a server that no tool has.
func (m *importer) freeServer(given string) string {
	name := strings.ToLower(named(given, "server"))
	name = strings.Trim(underscores().ReplaceAllString(name, "_"), "_-")
	name = name[:min(len(name), 30)]
	free := name
	for n := 2; m.tools.has(free); n++ {
		free = name + "_" + itoa(n)
	}
	return free
}

func (m *importer) serverFor(id string) *connector {
	var next *connector
	for _, c := range m.connectors {
		switch {
		case c.used || !c.isMCP():
		case c.calls(id):
			return c
		case next == nil:
			next = c
		}
	}
	return next
}

// server takes over where a server is, and what it is sent.
func (m *importer) server(out *mapping, c *connector) {
	c.used = true
	base, protocol := c.body.at("url"), c.body.at("protocol")
	endpoint := c.body.at("parameters", "endpoint").word()
	if endpoint == "" {
		endpoint = c.body.at("parameters", "sse_endpoint").word()
	}
	at := c.fill(base.word())
	if joined, err := url.JoinPath(at, endpoint); err == nil && endpoint != "" {
		at = joined
	}
	if at == "" {
		at = "${env.MCP_URL}"
		m.remind(c.body.file, below(c.body.path, "url"), Todo, "the connector has no url: set MCP_URL")
	}
	out.put("url", at)
	m.note(protocol, Changed, "the address tells: both streamable HTTP and server-sent events are spoken")
	if headers := c.body.at("headers").unfold(); headers != nil && headers.kind == object {
		var keep mapping
		for i, key := range headers.keys {
			keep.put(key, c.fill(headers.items[i].word()))
		}
		out.put("headers", keep)
	}
	c.about(&m.log)
	m.rest(c.root, "a tool server has no such setting here")
}

// filters are regular expressions there, and names or globs here.
func (m *importer) filters(out *mapping, e *item) {
	it := e.at("tool_filters").unfold()
	if it == nil || it.kind != list || len(it.items) == 0 {
		return
	}
	var globs []any
	for _, f := range it.items {
		all, ok := globsOf(f.peek())
		if !ok {
			m.note(it, Todo, "%q cannot be said by names and globs: every tool of the server is offered until include names those that are meant", clip(f.peek()))
			return
		}
		for _, g := range all {
			if !slices.Contains(globs, any(g)) {
				globs = append(globs, g)
			}
		}
	}
	out.put("include", globs)
	m.note(it, Changed, "regular expressions over names become names and globs")
}

var (
	wordsOnly = lazily(`^[A-Za-z0-9_./*-]+$`)
	anything  = strings.NewReplacer(".*", "*", ".+", "?*", `\.`, ".", `\-`, "-", `\_`, "_")
)

// globsOf says in names and globs what a regular expression over whole names
// says; false = it says more. A begin alone (^get_) matches there what begins so.
func globsOf(expr string) (out []string, ok bool) {
	for part := range strings.SplitSeq(strings.TrimSuffix(strings.TrimPrefix(expr, "("), ")"), "|") {
		open := strings.HasPrefix(part, "^") && !strings.HasSuffix(part, "$") && !strings.HasSuffix(part, "*")
		part = strings.TrimSuffix(strings.TrimPrefix(part, "^"), "$")
		if strings.Contains(strings.ReplaceAll(part, ".*", ""), "*") {
			return nil, false
		}
		glob := anything.Replace(part)
		if strings.Contains(strings.NewReplacer(".*", "", ".+", "", `\.`, "").Replace(part), ".") {
			return nil, false // any one character
		}
		if open {
			glob += "*"
		}
		if !wordsOnly().MatchString(strings.ReplaceAll(glob, "?*", "*")) {
			return nil, false
		}
		out = append(out, glob)
	}
	return out, len(out) > 0
}

// descriptions are told to the model in place of the server's own.
func (m *importer) descriptions(out *mapping, e *item) {
	it := e.at("tool_descriptions").unfold()
	if it == nil {
		return
	}
	sets := []*item{it}
	if it.kind == list {
		sets = it.items
	}
	var overrides mapping
	for _, set := range sets {
		for i, tool := range set.keys {
			if d := set.items[i].peek(); d != "" {
				overrides.put(tool, mapping{{key: "description", value: d}})
			}
		}
	}
	out.put("overrides", overrides)
	it.take()
}
