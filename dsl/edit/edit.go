package edit

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/dsl/language"
	"github.com/pexctl/pex/dsl/specfs"
	"github.com/pexctl/pex/dsl/syntax"
	"github.com/pexctl/pex/engine/jsonvalue"
)

// fileOf is the start of the File of diagnostics about an edited prompt.
const fileOf = "prompt "

// PromptOf returns the name of the prompt whose edited text a diagnostic is about; ok is
// false for other diagnostics.
func PromptOf(d diag.Diagnostic) (name string, ok bool) { return strings.CutPrefix(d.File, fileOf) }

// named is the section of named prompts.
const named = "prompts."

// Canonical returns a name of a prompt as engine.Prompt.Name has it: a name without a dot is
// that of a named prompt.
func Canonical(name string) string {
	caller, local := "", name
	if i := strings.LastIndexByte(name, '/'); i >= 0 {
		caller, local = name[:i+1], name[i+1:]
	}
	if !strings.Contains(local, ".") {
		local = named + local
	}
	return caller + local
}

// Edits are the edits of one spec and of the agents that it calls, sorted by name.
type Edits []*Edit

// Edit is a new text of a prompt.
type Edit struct {
	local  string // name in the spec that is compiled
	source *syntax.Source
	found  bool // the spec has the agent whose prompt it is
}

// New returns edits, given the new texts by name.
func New(texts map[string]string) (out Edits) {
	for name, text := range texts {
		name = Canonical(name)
		src := &syntax.Source{Name: fileOf + name, Text: []byte(text), Kind: syntax.Edited}
		out = append(out, &Edit{local: name, source: src})
	}
	slices.SortFunc(out, func(a, b *Edit) int { return strings.Compare(a.local, b.local) })
	return out
}

// Key returns a digest of the edits, or "" if there are none.
func (all Edits) Key() string {
	if len(all) == 0 {
		return ""
	}
	var texts []string
	for _, e := range all {
		texts = append(texts, e.local, string(e.source.Text))
	}
	return specfs.Digest(jsonvalue.Encode(texts))
}

// nodesPath is the start of the path of a graph's node, which the names of its prompts omit.
const nodesPath = "graph.nodes."

// CallerAt returns the name of the tool or node whose key at a path names an agent.
func CallerAt(path string) string {
	if i := strings.LastIndexByte(path, '.'); i >= 0 {
		path = path[:i]
	}
	return strings.TrimPrefix(path, nodesPath)
}

// Within returns the edits of the agent that a key at a path names, with their names in it.
func (all Edits) Within(path string) (out Edits) {
	for _, e := range all {
		if local, ok := strings.CutPrefix(e.local, CallerAt(path)+"/"); ok {
			e.found = true
			out = append(out, &Edit{local: local, source: e.source})
		}
	}
	return out
}

// Apply replaces the texts of edited prompts in a tree, and reports texts that no prompt can
// have.
func (all Edits) Apply(tree *syntax.Node, r *syntax.Report) {
	for _, e := range all {
		keys := strings.Split(e.local, ".")
		if strings.Contains(e.local, "/") {
			continue
		}
		last := len(keys) - 1
		into := mappingAt(tree, keys[:last])
		if into == nil || into.Kind != syntax.Map || strings.HasPrefix(e.local, named) && into.Find(keys[last]) == nil {
			continue
		}
		at := syntax.Position{Source: e.source, Line: 1, Column: 1}
		into.Set(keys[last], at, &syntax.Node{Position: at, Kind: syntax.Text, Style: syntax.Literal, Text: string(e.source.Text)})
		switch n := len(e.source.Text); {
		case n > syntax.MaxFile:
			r.Error(diag.TooLarge, syntax.Position{Source: e.source}, "the prompt has %d bytes; the maximum is %d", n, syntax.MaxFile).Hint = "shorten it"
		case !utf8.Valid(e.source.Text):
			r.Error(diag.Unreadable, syntax.Position{Source: e.source}, "the prompt is not valid UTF-8").Hint = "save it as UTF-8"
		default:
			r.HiddenText(e.source)
		}
	}
}

// mappingAt returns the mapping whose key is a prompt: a role, which need not be written, a
// node of the graph, or any other mapping that is written. It returns nil if there is none.
func mappingAt(tree *syntax.Node, keys []string) *syntax.Node {
	if len(keys) == 1 {
		if nodes := tree.Get("graph").Get("nodes"); nodes != nil {
			for _, n := range nodes.Items {
				if syntax.TextOf(n, "id") == keys[0] {
					return n
				}
			}
		}
		if slices.Contains(language.Roles, keys[0]) && tree.Get(keys[0]) == nil {
			tree.Set(keys[0], tree.Position, &syntax.Node{Position: tree.Position, Kind: syntax.Map})
		}
	}
	into := tree
	for _, key := range keys {
		into = into.Get(key)
	}
	return into
}
