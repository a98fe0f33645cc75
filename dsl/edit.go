package dsl

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pexctl/pex/dsl/config"
	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/dsl/language"
	"github.com/pexctl/pex/dsl/specfs"
	"github.com/pexctl/pex/dsl/syntax"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/jsonvalue"
)

// editedPrompt is the start of the File of diagnostics about an edited prompt.
const editedPrompt = "prompt "

// EditedPrompt returns the name of the prompt whose edited text a diagnostic is about; ok is
// false for other diagnostics.
func EditedPrompt(d diag.Diagnostic) (name string, ok bool) {
	return strings.CutPrefix(d.File, editedPrompt)
}

// CanonicalPrompt returns a name of a prompt as engine.Prompt.Name has it: a name without a
// dot is that of a named prompt.
func CanonicalPrompt(name string) string {
	caller, local := "", name
	if i := strings.LastIndexByte(name, '/'); i >= 0 {
		caller, local = name[:i+1], name[i+1:]
	}
	if !strings.Contains(local, ".") {
		local = config.Join("prompts", local)
	}
	return caller + local
}

// promptEdit is a new text of a prompt.
type promptEdit struct {
	local  string // name in the spec that is compiled
	source *syntax.Source
	found  bool // the spec has the agent whose prompt it is
}

// promptEdits are the edits of one spec and the agents that it calls, sorted by name.
type promptEdits []*promptEdit

func editsOf(texts map[string]string) (out promptEdits) {
	for name, text := range texts {
		name = CanonicalPrompt(name)
		src := &syntax.Source{Name: editedPrompt + name, Text: []byte(text), Kind: syntax.Edited}
		out = append(out, &promptEdit{local: name, source: src})
	}
	slices.SortFunc(out, func(a, b *promptEdit) int { return strings.Compare(a.local, b.local) })
	return out
}

// key returns a digest of the edits, or "" if there are none.
func (all promptEdits) key() string {
	if len(all) == 0 {
		return ""
	}
	var texts []string
	for _, e := range all {
		texts = append(texts, e.local, string(e.source.Text))
	}
	return specfs.Digest(jsonvalue.Encode(texts))
}

// callerAt returns the name of the tool or node whose key at a path names an agent.
func callerAt(path string) string {
	if i := strings.LastIndexByte(path, '.'); i >= 0 {
		path = path[:i]
	}
	return strings.TrimPrefix(path, nodesPath)
}

// nodesPath is the start of the path of a graph's node, which the names of its prompts omit.
const nodesPath = "graph.nodes."

// editsWithin returns the edits of the agent that a path names, with their names in it.
func (c *compiler) editsWithin(path string) (out promptEdits) {
	for _, e := range c.loader.edits {
		if local, ok := strings.CutPrefix(e.local, callerAt(path)+"/"); ok {
			e.found = true
			out = append(out, &promptEdit{local: local, source: e.source})
		}
	}
	return out
}

// applyEdits replaces the texts of edited prompts in the tree. Whether each of them is a
// prompt is known only after the tree is decoded; see checkEdits.
func (c *compiler) applyEdits() {
	for _, e := range c.loader.edits {
		keys := strings.Split(e.local, ".")
		if strings.Contains(e.local, "/") {
			continue
		}
		last := len(keys) - 1
		into := c.editedMapping(keys[:last])
		if into == nil || into.Kind != syntax.Map || keys[0] == "prompts" && into.Find(keys[last]) == nil {
			continue
		}
		at := syntax.Position{Source: e.source, Line: 1, Column: 1}
		into.Set(keys[last], at, &syntax.Node{Position: at, Kind: syntax.Text, Style: syntax.Literal, Text: string(e.source.Text)})
		switch n := len(e.source.Text); {
		case n > syntax.MaxFile:
			c.Report.Error(diag.TooLarge, syntax.Position{Source: e.source}, "the prompt has %d bytes; the maximum is %d", n, syntax.MaxFile).Hint = "shorten it"
		case !utf8.Valid(e.source.Text):
			c.Report.Error(diag.Unreadable, syntax.Position{Source: e.source}, "the prompt is not valid UTF-8").Hint = "save it as UTF-8"
		default:
			c.Report.HiddenText(e.source)
		}
	}
}

// editedMapping returns the mapping whose key is a prompt: a role, which need not be written,
// a node of the graph, or any other mapping that is written. It returns nil if there is none.
func (c *compiler) editedMapping(keys []string) *syntax.Node {
	if len(keys) == 1 {
		if nodes := c.tree.Get("graph").Get("nodes"); nodes != nil {
			for _, n := range nodes.Items {
				if syntax.TextOf(n, "id") == keys[0] {
					return n
				}
			}
		}
		if slices.Contains(language.Roles, keys[0]) && c.tree.Get(keys[0]) == nil {
			c.tree.Set(keys[0], c.tree.Position, &syntax.Node{Position: c.tree.Position, Kind: syntax.Map})
		}
	}
	into := c.tree
	for _, key := range keys {
		into = into.Get(key)
	}
	return into
}

// checkEdits reports the edits that change no prompt for models.
func (c *compiler) checkEdits() {
	for _, e := range c.loader.edits {
		isUse := func(p config.PromptUse) bool { return p.Value.Source == e.source }
		isFixed := func(p config.PromptUse) bool { return isUse(p) && p.Fixed }
		named := strings.HasPrefix(e.local, "prompts.") && c.doc.Prompts.Find(strings.TrimPrefix(e.local, "prompts.")) != nil
		at := syntax.Position{Source: e.source}
		if i := slices.IndexFunc(c.Prompts, isFixed); i >= 0 {
			c.replaceErrors(e).Error(diag.NotAllowed, at, "a fork cannot edit %s: it %s", e.local, c.fixedAs(c.Prompts[i])).
				Hint = "only prompts for models can be edited; start a new run with an edited spec"
		} else if !e.found && !named && !slices.ContainsFunc(c.Prompts, isUse) {
			c.replaceErrors(e).Error(diag.UnknownPrompt, at, "undefined prompt %s", syntax.Quote(e.local)).Advice = diag.Suggest(e.local, c.editable())
		}
	}
}

// fixedAs says why a use of a prompt is fixed.
func (c *compiler) fixedAs(p config.PromptUse) string {
	if p.Use != "" {
		return "is part of a schema, an LLM or a question to people"
	}
	return "belongs to an LLM or is a question to people"
}

// replaceErrors removes the diagnostics about the text of an edit, which are pointless if it
// is no prompt.
func (c *compiler) replaceErrors(e *promptEdit) *syntax.Report {
	c.Report.List = slices.DeleteFunc(c.Report.List, func(d diag.Diagnostic) bool { return d.File == e.source.Name })
	return c.Report
}

// editable returns the names of the prompts that can be edited.
func (c *compiler) editable() (out []string) {
	p := engine.Program{Prompts: c.promptList(), Agents: c.program.Agents}
	for _, q := range p.AllPrompts() {
		if !q.Fixed {
			out = append(out, q.Name)
		}
	}
	return out
}

// promptList returns the prompts of the program.
func (c *compiler) promptList() (out []engine.Prompt) {
	add := func(p engine.Prompt) {
		if !slices.ContainsFunc(out, func(o engine.Prompt) bool { return o.Name == p.Name }) {
			out = append(out, p)
		}
	}
	fixed := map[string]bool{}
	for _, u := range c.Prompts {
		if fixed[u.Use] = fixed[u.Use] || u.Fixed; !u.Part {
			add(engine.Prompt{
				Name: strings.TrimPrefix(u.Path, nodesPath), Text: u.Value.Text, Use: u.Use, References: u.References, BuiltIn: u.BuiltIn, Fixed: u.Fixed,
			})
		}
	}
	for _, e := range c.doc.Prompts.Entries {
		add(engine.Prompt{Name: config.Join("prompts", e.Key), Text: e.Value.Text, Fixed: fixed[e.Key]})
	}
	return out
}
