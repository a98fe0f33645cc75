package lsp

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/pexctl/pex/engine/text"
)

// use is a place where a document writes a name: where it is defined, or where
// it is meant.
type use struct {
	kind     string // llm, tool, prompt, parameter, node, agent, file
	name     string
	from, to int
	defined  bool
	node     *node
	buffer   *buffer
	tail     string // what a template writes behind the name: .id; of a dotted name, its rest
	dotted   bool   // it stands in an expression, behind a dot
}

var (
	inTemplate   = text.Regexp(`\$[{<][ \t]*(parameters|prompts)[ \t]*\.[ \t]*([A-Za-z_][A-Za-z0-9_-]*)((?:[ \t]*\.[ \t]*[A-Za-z0-9_-]+)*)`)
	inExpression = text.Regexp(`\bparameters(?:\??\.([A-Za-z_][A-Za-z0-9_]*)|(?:\?\.)?\[(?:\\?"|'{1,2})([A-Za-z][A-Za-z0-9_.-]*)(?:\\?"|'{1,2})\])`)
	sections     = map[string]string{"llms": "llm", "tools": "tool", "prompts": "prompt", "parameters": "parameter", "agents": "agent"}
)

// uses lists the names in a document, in its order as the tree has it.
func (s *server) uses(b *buffer) []use {
	b.named.Do(func() { b.names = s.findUses(b) })
	return b.names
}

func (s *server) findUses(b *buffer) []use {
	f := &finder{buffer: b}
	if !b.spec() {
		f.template(0, b.text.s)
		return f.found
	}
	s.language.each(b.outline(), func(n *node, shapes []*shape) {
		f.definition(n)
		f.override(n)
		if n.kind == scalar && n.to > n.from {
			f.value(n, note(shapes))
		}
	})
	return f.found
}

// each visits a tree with the parts of the schema that hold for each node.
func (l *language) each(root *node, visit func(*node, []*shape)) {
	var down func(n *node, shapes []*shape)
	down = func(n *node, shapes []*shape) {
		visit(n, shapes)
		for _, k := range n.kids {
			var below []*shape
			for _, s := range shapes {
				if b := s.below(k); b != nil {
					below = l.expand(b, k, below, 0)
				}
			}
			down(k, below)
		}
	}
	down(root, l.expand(l.root, root, nil, 0))
}

type finder struct {
	buffer *buffer
	found  []use
}

func (f *finder) add(kind, name string, from, to int, defined bool, n *node) {
	if name != "" {
		f.found = append(f.found, use{kind: kind, name: name, from: from, to: to, defined: defined, node: n, buffer: f.buffer})
	}
}

// definition finds the names that a document gives to things.
func (f *finder) definition(n *node) {
	if n.parent == nil {
		return
	}
	above := n.parent
	kind := sections[above.key]
	atTop := above.parent != nil && (above.parent.parent == nil || above.parent.under("agents.?"))
	switch {
	case kind != "" && atTop && n.keyTo > n.keyFrom:
		suite := f.buffer.kind() == "Suite" || f.buffer.kind() == "Tests"
		f.add(kind, n.key, n.keyFrom, n.keyTo, kind != "parameter" || !suite, n)
	case n.key == "id" && above.parent != nil && above.parent.key == "nodes":
		f.add("node", n.string(), inner(n), inner(n)+len(n.text), true, n)
	case n.under("tests.*.parameters.?"), n.under("dataset.parameters.?"):
		f.add("parameter", n.key, n.keyFrom, n.keyTo, false, n)
	case n.under("tests.*.run.tools.?"), n.under("run.tools.?"):
		f.add("tool", n.key, n.keyFrom, n.keyTo, false, n)
	}
}

// inner is where the text of a scalar begins, behind its quote.
func inner(n *node) int {
	if n.style == '"' || n.style == '\'' {
		return n.from + 1
	}
	return n.from
}

// value finds the names in a scalar, by what its text means.
func (f *finder) value(n *node, note *shape) {
	whole := func(kind string) { f.add(kind, n.text, inner(n), inner(n)+len(n.text), false, n) }
	switch kind := nameKind(n, note); kind {
	case "prompt", "template", "":
		if kind == "prompt" && n.key == "use" {
			whole("prompt")
		} else if note != nil || slices.Contains(n.steps(), "tools") || slices.Contains(n.steps(), "nodes") { // of what a tool takes the schema says nothing
			f.template(n.from, f.buffer.text.s[n.from:n.to])
		}
	case "expression":
		for _, m := range inExpression().FindAllStringSubmatchIndex(f.buffer.text.s[n.from:n.to], -1) {
			from, to := n.from+max(m[2], m[4]), n.from+max(m[3], m[5])
			f.add("parameter", f.buffer.text.s[from:to], from, to, false, n)
			f.found[len(f.found)-1].dotted = m[2] >= 0
		}
	case "agent":
		if name, ok := strings.CutPrefix(n.text, "#"); ok {
			f.add("agent", name, inner(n)+1, inner(n)+len(n.text), false, n)
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

// ofNames are places whose values are names of something, which the schema does
// not say: of lists of texts.
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

// nameKind is what the text of a scalar is the name of, or what it is written in.
func nameKind(n *node, note *shape) string {
	if n.key == "file" && n.parent != nil && len(n.parent.kids) == 1 {
		return "file"
	}
	for _, o := range ofNames {
		if n.under(o.pattern) {
			return o.kind
		}
	}
	if n.key == "use" && n.parent != nil && len(n.parent.kids) == 1 && !n.parent.under("tools.?") {
		return "prompt"
	}
	return note.says("is")
}

// find is the name that stands at a byte of a document, or nil.
func (s *server) find(b *buffer, at int) *use {
	for _, u := range s.uses(b) {
		if u.from > at || at > u.to+len(u.tail) {
			continue
		}
		if u = s.meant(s.family(b), u); at <= u.to {
			return &u
		}
	}
	return nil
}

// definitions lists where a name is given, in the files of a family.
func (s *server) definitions(family []*buffer, kind, name string) []use {
	var out []use
	for _, b := range family {
		for _, u := range s.uses(b) {
			if u.defined && u.kind == kind && u.name == name {
				out = append(out, u)
			}
		}
	}
	return out
}

// all lists the definitions of a kind in a family, each name once.
func (s *server) all(family []*buffer, kind string) []use {
	var out []use
	seen := map[string]bool{}
	for _, b := range family {
		for _, u := range s.uses(b) {
			if u.defined && u.kind == kind && !seen[u.name] {
				seen[u.name] = true
				out = append(out, u)
			}
		}
	}
	return out
}

// rel is how a document would name a file.
func rel(b *buffer, path string) string {
	r, err := filepath.Rel(filepath.Dir(b.path), path)
	if err != nil {
		return path
	}
	return filepath.ToSlash(r)
}
