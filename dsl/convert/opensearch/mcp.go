package opensearch

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/pexctl/pex/dsl/convert"
	"github.com/pexctl/pex/dsl/convert/internal/tree"
	"github.com/pexctl/pex/engine/text"
)

// mcp converts the tool servers that the agent names. Each uses the connector
// with its id, or else the next one of a tool server.
func (m *importer) mcp() {
	entries := m.agent.Get("parameters", "mcp_connectors").Decode()
	if entries == nil || entries.Kind != tree.List {
		return
	}
	for _, e := range entries.Items {
		if e.Decode(); e.Kind != tree.Object {
			continue
		}
		id := e.Get("mcp_connector_id")
		c := m.serverFor(id.Peek())
		var out tree.Map
		out.Put("type", "mcp")
		given := id.Peek()
		if c != nil {
			if name := c.body.Get("name").Peek(); name != "" {
				given = name
			}
			m.server(&out, c)
			m.Note(id, convert.Changed, "is a name of the cluster's; the tool has the address of the connector that was given")
		} else {
			variable := "MCP_URL_" + toEnvName(toName(given, "server"))
			out.Put("url", "${env."+variable+"}")
			m.Note(id, convert.Todo, "is a name of the cluster's: set %s to the server's address, or import again with --connector", variable)
		}
		name := m.freeServer(given)
		m.filters(&out, e)
		m.descriptions(&out, e)
		out.Put("approval", "never")
		m.tools.Set(name, out, "")
		m.NoteAt(e.File, e.Path, convert.Changed, "the server's tools are called %s__TOOL here; writing tools need no approval (approval: never), as there", name)
		e.Use()
	}
}

var underscores = text.Regexp(`_+`)

// freeServer returns a name for a server that no tool has.
func (m *importer) freeServer(given string) string {
	name := strings.ToLower(toName(given, "server"))
	name = strings.Trim(underscores().ReplaceAllString(name, "_"), "_-")
	name = name[:min(len(name), 30)]
	free := name
	for n := 2; m.tools.Has(free); n++ {
		free = name + "_" + strconv.Itoa(n)
	}
	return free
}

func (m *importer) serverFor(id string) *connector {
	var next *connector
	for _, c := range m.connectors {
		switch {
		case c.used || !c.isMCP():
		case c.hasID(id):
			return c
		case next == nil:
			next = c
		}
	}
	return next
}

// server converts the address of a server and its headers.
func (m *importer) server(out *tree.Map, c *connector) {
	c.used = true
	base, protocol := c.body.Get("url"), c.body.Get("protocol")
	endpoint := c.body.Get("parameters", "endpoint").UseText()
	if endpoint == "" {
		endpoint = c.body.Get("parameters", "sse_endpoint").UseText()
	}
	at := c.fill(base.UseText())
	if joined, err := url.JoinPath(at, endpoint); err == nil && endpoint != "" {
		at = joined
	}
	if at == "" {
		at = "${env.MCP_URL}"
		m.NoteAt(c.body.File, tree.Join(c.body.Path, "url"), convert.Todo, "the connector has no url: set MCP_URL")
	}
	out.Put("url", at)
	m.Note(protocol, convert.Changed, "the address tells: both streamable HTTP and server-sent events are spoken")
	if headers := c.body.Get("headers").Decode(); headers != nil && headers.Kind == tree.Object {
		var keep tree.Map
		for i, key := range headers.Keys {
			keep.Put(key, c.fill(headers.Items[i].UseText()))
		}
		out.Put("headers", keep)
	}
	c.noteIdentity(&m.Log)
	m.NoteUnused(c.root, "a tool server has no such setting here")
}

// filters converts regular expressions to names and globs.
func (m *importer) filters(out *tree.Map, e *tree.Value) {
	it := e.Get("tool_filters").Decode()
	if it == nil || it.Kind != tree.List || len(it.Items) == 0 {
		return
	}
	var globs []any
	for _, f := range it.Items {
		all, ok := globsOf(f.Peek())
		if !ok {
			m.Note(it, convert.Todo, "%q cannot be said by names and globs: every tool of the server is offered until include names those that are meant", tree.Clip(f.Peek()))
			return
		}
		for _, g := range all {
			if !slices.Contains(globs, any(g)) {
				globs = append(globs, g)
			}
		}
	}
	out.Put("include", globs)
	m.Note(it, convert.Changed, "regular expressions over names become names and globs")
}

var (
	wordsOnly = text.Regexp(`^[A-Za-z0-9_./*-]+$`)
	anything  = strings.NewReplacer(".*", "*", ".+", "?*", `\.`, ".", `\-`, "-", `\_`, "_")
)

// globsOf converts a regular expression over whole names to names and globs. ok
// is false if that is not possible. A prefix alone (^get_) matches names with
// that prefix.
func globsOf(expr string) (out []string, ok bool) {
	for part := range strings.SplitSeq(strings.TrimSuffix(strings.TrimPrefix(expr, "("), ")"), "|") {
		open := strings.HasPrefix(part, "^") && !strings.HasSuffix(part, "$") && !strings.HasSuffix(part, "*")
		part = strings.TrimSuffix(strings.TrimPrefix(part, "^"), "$")
		if strings.Contains(strings.ReplaceAll(part, ".*", ""), "*") {
			return nil, false
		}
		glob := anything.Replace(part)
		if strings.Contains(strings.NewReplacer(".*", "", ".+", "", `\.`, "").Replace(part), ".") {
			return nil, false // a single arbitrary character
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

// descriptions replace those of the server.
func (m *importer) descriptions(out *tree.Map, e *tree.Value) {
	it := e.Get("tool_descriptions").Decode()
	if it == nil {
		return
	}
	sets := []*tree.Value{it}
	if it.Kind == tree.List {
		sets = it.Items
	}
	var overrides tree.Map
	for _, set := range sets {
		for i, tool := range set.Keys {
			if d := set.Items[i].Peek(); d != "" {
				overrides.Put(tool, tree.Map{{Key: "description", Value: d}})
			}
		}
	}
	out.Put("overrides", overrides)
	it.Use()
}
