package lsp

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/pexctl/pex/dsl/lsp/language"
	"github.com/pexctl/pex/dsl/lsp/outline"
	"github.com/pexctl/pex/dsl/specfs"
	"github.com/pexctl/pex/engine/text"
)

// nameUse is a place where a document defines a name or refers to it.
type nameUse struct {
	kind     string // llm, tool, prompt, parameter, node, agent, file
	name     string
	from, to int
	defined  bool
	node     *outline.Node
	buffer   *buffer
	tail     string // the text after the name in a template: .id; of a dotted name, its rest
	dotted   bool   // in an expression, after a dot
}

var (
	inTemplate   = text.Regexp(`\$[{<][ \t]*(parameters|prompts)[ \t]*\.[ \t]*([A-Za-z_][A-Za-z0-9_-]*)((?:[ \t]*\.[ \t]*[A-Za-z0-9_-]+)*)`)
	inExpression = text.Regexp(`\bparameters(?:\??\.([A-Za-z_][A-Za-z0-9_]*)|(?:\?\.)?\[(?:\\?"|'{1,2})([A-Za-z][A-Za-z0-9_.-]*)(?:\\?"|'{1,2})\])`)
	sections     = map[string]string{"llms": "llm", "tools": "tool", "prompts": "prompt", "parameters": "parameter", "agents": "agent"}
)

// uses returns the names in a document, in the order of its tree.
func (s *server) uses(b *buffer) []nameUse {
	b.named.Do(func() { b.names = s.findUses(b) })
	return b.names
}

func (s *server) findUses(b *buffer) []nameUse {
	f := &finder{buffer: b}
	if !b.spec() {
		f.template(0, b.text.s)
		return f.found
	}
	s.language.Each(b.outline(), func(n *outline.Node, shapes []*language.Schema) {
		f.definition(n)
		f.override(n)
		if n.Kind == outline.Scalar && n.To > n.From {
			f.value(n, language.Meaning(shapes))
		}
	})
	return f.found
}

type finder struct {
	buffer *buffer
	found  []nameUse
}

func (f *finder) add(kind, name string, from, to int, defined bool, n *outline.Node) {
	if name != "" {
		f.found = append(f.found, nameUse{kind: kind, name: name, from: from, to: to, defined: defined, node: n, buffer: f.buffer})
	}
}

// definition finds the names that a document defines.
func (f *finder) definition(n *outline.Node) {
	if n.Parent == nil {
		return
	}
	above := n.Parent
	kind := sections[above.Key]
	atTop := above.Parent != nil && (above.Parent.Parent == nil || above.Parent.Match("agents.?"))
	switch {
	case f.buffer.kind() == specfs.KindServer: // its agents are names for clients
	case kind != "" && atTop && n.KeyTo > n.KeyFrom:
		suite := f.buffer.kind() == "Suite" || f.buffer.kind() == "Tests"
		f.add(kind, n.Key, n.KeyFrom, n.KeyTo, kind != "parameter" || !suite, n)
	case n.Key == "id" && above.Parent != nil && above.Parent.Key == "nodes":
		f.add("node", n.String(), textStart(n), textStart(n)+len(n.Text), true, n)
	case n.Match("tests.*.parameters.?"), n.Match("dataset.parameters.?"):
		f.add("parameter", n.Key, n.KeyFrom, n.KeyTo, false, n)
	case n.Match("tests.*.run.tools.?"), n.Match("run.tools.?"):
		f.add("tool", n.Key, n.KeyFrom, n.KeyTo, false, n)
	}
}

// textStart returns the start of a scalar's text, after its quote.
func textStart(n *outline.Node) int {
	if n.Style == '"' || n.Style == '\'' {
		return n.From + 1
	}
	return n.From
}

// value finds the names in a scalar, by the meaning of its text.
func (f *finder) value(n *outline.Node, note *language.Schema) {
	whole := func(kind string) { f.add(kind, n.Text, textStart(n), textStart(n)+len(n.Text), false, n) }
	switch kind := nameKind(n, note); kind {
	case "prompt", "template", "":
		if kind == "prompt" && n.Key == "use" {
			whole("prompt")
		} else if note != nil || slices.Contains(n.Keys(), "tools") || slices.Contains(n.Keys(), "nodes") { // the schema does not describe values of a tool
			f.template(n.From, f.buffer.text.s[n.From:n.To])
		}
	case "expression":
		for _, m := range inExpression().FindAllStringSubmatchIndex(f.buffer.text.s[n.From:n.To], -1) {
			from, to := n.From+max(m[2], m[4]), n.From+max(m[3], m[5])
			f.add("parameter", f.buffer.text.s[from:to], from, to, false, n)
			f.found[len(f.found)-1].dotted = m[2] >= 0
		}
	case "agent":
		if name, ok := strings.CutPrefix(n.Text, "#"); ok {
			f.add("agent", name, textStart(n)+1, textStart(n)+len(n.Text), false, n)
		} else {
			whole("file")
		}
	default:
		whole(kind)
	}
}

func (f *finder) template(at int, text string) {
	for _, m := range inTemplate().FindAllStringSubmatchIndex(text, -1) {
		kind := strings.TrimSuffix(text[m[2]:m[3]], "s")
		f.add(kind, text[m[4]:m[5]], at+m[4], at+m[5], false, nil)
		if kind == "parameter" {
			f.found[len(f.found)-1].tail = text[m[6]:m[7]]
		}
	}
}

// ofNames are places whose values are names, for lists of texts that the schema
// does not describe.
var ofNames = []struct{ pattern, kind string }{
	{"executor.tools.*", "tool"},
	{"executor.exclude_tools.*", "tool"},
	{"graph.nodes.*.tools.*", "tool"},
	{"graph.nodes.*.exclude_tools.*", "tool"},
	{"graph.nodes.*.tool", "tool"},
	{"agents.?.executor.tools.*", "tool"},
	{"agents.?.executor.exclude_tools.*", "tool"},
	{"tests.*.inject.*.tool", "tool"},
	{"inject.*.tool", "tool"},
	{"llms.?.fallback.*", "llm"},
	{"memory.compaction.summarize.llm", "llm"},
	{"graph.start", "node"},
	{"graph.edges.*.from", "node"},
	{"graph.edges.*.to", "node"},
	{"tests.*.render", "node"},
	{"tests.*.render.*", "node"},
	{"render", "node"},
	{"render.*", "node"},
	{"include.*", "file"},
	{"extends", "file"},
	{"extends.spec", "file"},
	{"evals.*", "file"},
	{"spec", "file"},
	{"agents.?.spec", "file"},
	{"specs.*", "file"},
	{"variants.?.spec", "file"},
	{"dataset", "file"},
	{"dataset.file", "file"},
	{"baseline", "file"},
	{"tests.*.run.cassette", "file"},
	{"run.cassette", "file"},
	{"tests.*.run.files.*", "file"},
	{"run.files.*", "file"},
	{"guards.*.when", "expression"},
	{"agents.?.guards.*.when", "expression"},
	{"tests.*.expect.*", "expression"},
	{"expect.*", "expression"},
	{"checks.*", "expression"},
	{"tests.*.checks.*", "expression"},
	{"gates.*", "expression"},
}

// nameKind returns what the text of a scalar names, or its notation.
func nameKind(n *outline.Node, note *language.Schema) string {
	if n.Key == "file" && n.Parent != nil && len(n.Parent.Children) == 1 {
		return "file"
	}
	for _, o := range ofNames {
		if n.Match(o.pattern) {
			return o.kind
		}
	}
	if n.Key == "use" && n.Parent != nil && len(n.Parent.Children) == 1 && !n.Parent.Match("tools.?") {
		return "prompt"
	}
	return note.Text("is")
}

// find returns the name at a byte of a document, or nil.
func (s *server) find(b *buffer, at int) *nameUse {
	for _, u := range s.uses(b) {
		if u.from > at || at > u.to+len(u.tail) {
			continue
		}
		if u = s.wholeName(s.workspace(b), u); at <= u.to {
			return &u
		}
	}
	return nil
}

// definitions returns the definitions of a name in the files of a workspace.
func (s *server) definitions(workspace []*buffer, kind, name string) []nameUse {
	var out []nameUse
	for _, b := range workspace {
		for _, u := range s.uses(b) {
			if u.defined && u.kind == kind && u.name == name {
				out = append(out, u)
			}
		}
	}
	return out
}

// all returns the definitions of a kind in a workspace, each name once.
func (s *server) all(workspace []*buffer, kind string) []nameUse {
	var out []nameUse
	seen := map[string]bool{}
	for _, b := range workspace {
		for _, u := range s.uses(b) {
			if u.defined && u.kind == kind && !seen[u.name] {
				seen[u.name] = true
				out = append(out, u)
			}
		}
	}
	return out
}

// rel returns the path of a file relative to a document.
func rel(b *buffer, path string) string {
	r, err := filepath.Rel(filepath.Dir(b.path), path)
	if err != nil {
		return path
	}
	return filepath.ToSlash(r)
}

// overrides are the places of tests and suites that override parts of the spec by
// path.
var overrides = []string{"set.?", "tests.*.set.?", "variants.?.set.?"}

// override finds the names in an entry of set: llms.main.cost, as a key or as
// path=value, and a value that names an LLM.
func (f *finder) override(n *outline.Node) {
	for _, pattern := range overrides {
		switch {
		case n.Match(pattern):
			from := n.KeyFrom
			if c := f.buffer.text.s[from]; c == '"' || c == '\'' {
				from++
			}
			f.path(n, from, n.Key)
			if strings.HasSuffix(n.Key, ".llm") && n.Kind == outline.Scalar {
				f.add("llm", n.Text, textStart(n), textStart(n)+len(n.Text), false, n)
			}
		case n.Kind == outline.Scalar && n.Match(strings.TrimSuffix(pattern, "?")+"*"):
			path, value, _ := strings.Cut(n.Text, "=")
			f.path(n, textStart(n), path)
			if strings.HasSuffix(path, ".llm") {
				from := textStart(n) + len(path) + 1
				f.add("llm", value, from, from+len(value), false, n)
			}
		}
	}
}

// path finds the name in the path of an override.
func (f *finder) path(n *outline.Node, at int, path string) {
	section, rest, _ := strings.Cut(path, ".")
	kind := sections[section]
	if kind == "" || rest == "" {
		return
	}
	name, tail := rest, ""
	if end := strings.IndexAny(rest, ".["); end >= 0 {
		name, tail = rest[:end], rest[end:]
	}
	from := at + len(section) + 1
	f.add(kind, name, from, from+len(name), false, n)
	if kind == "parameter" && name != "" {
		f.found[len(f.found)-1].tail = tail
	}
}
