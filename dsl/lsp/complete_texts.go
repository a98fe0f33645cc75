package lsp

import (
	"slices"
	"strings"

	"github.com/pexctl/pex/dsl/lsp/language"
	"github.com/pexctl/pex/dsl/lsp/outline"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/text"
)

var (
	openReference = text.Regexp(`\$([{<])([ \t]*[\w]*)$`)
	openName      = text.Regexp(`\$[{<][ \t]*(\w+)[ \t]*\.[ \t]*([\w.-]*)$`)
	openFilter    = text.Regexp(`\$[{<][^{}<>\n]*\|[ \t]*(\w*)$`)
)

// filters are the filters of templates.
var filters = []struct{ name, doc string }{
	{"json", "The value as JSON."}, {"indent 2", "Indents every line after the first."}, {"trim", "Removes leading and trailing spaces."},
}

// inTemplate offers completions in an incomplete reference. It returns false if
// there is none.
func (c *completer) inTemplate() bool {
	start, line := c.buffer.text.line(c.at)
	before := line[:c.at-start]
	vars, ok := c.vars()
	if !ok {
		return false
	}
	if m := openFilter().FindStringSubmatch(before); m != nil {
		for _, f := range filters {
			c.add(completionItem{Label: f.name, Kind: kindValue, Documentation: markdownOf(f.doc)}, f.name, c.at-len(m[1]), c.at)
		}
		return true
	}
	if m := openName().FindStringSubmatch(before); m != nil {
		c.references(m[1], vars, c.at-len(m[2]))
		return true
	}
	m := openReference().FindStringSubmatch(before)
	if m == nil {
		return false
	}
	for _, ns := range namespaces(vars) {
		c.add(completionItem{Label: ns + ".", Kind: kindModule}, ns+".", c.at-len(strings.TrimLeft(m[2], " \t")), c.at)
	}
	return true
}

// vars returns the names that the template at the place may use, from its struct
// tag. ok is false outside templates.
func (c *completer) vars() (vars string, ok bool) {
	if !c.buffer.spec() {
		return c.varsOfFile(c.buffer.path)
	}
	n := c.buffer.outline().Find(c.at)
	if n == nil || n.Kind != outline.Scalar {
		return "", false
	}
	return c.varsOf(n)
}

func (c *completer) varsOf(n *outline.Node) (vars string, ok bool) {
	note := language.Meaning(c.language.Of(n))
	switch note.Text("is") {
	case "prompt":
		if n.Parent != nil && n.Parent.Key == "prompts" {
			return c.varsOfUses(n.Key), true
		}
	case "template":
	default:
		return "", false
	}
	if vars = note.Text("vars"); vars == "" {
		vars = "parameters"
	}
	return vars, true
}

// varsOfUses returns those of the templates that use a named prompt.
func (c *completer) varsOfUses(name string) string {
	vars := []string{"parameters", "prompts"}
	for _, b := range c.workspace {
		for _, u := range c.uses(b) {
			if u.kind == "prompt" && !u.defined && u.name == name && u.node != nil && u.node.Parent != nil {
				vars = append(vars, language.Meaning(c.language.Of(u.node.Parent)).Text("vars"))
			}
		}
	}
	return strings.Join(vars, ",")
}

// varsOfFile returns those of the templates that read a file.
func (c *completer) varsOfFile(path string) (string, bool) {
	vars := []string{}
	for _, b := range c.workspace {
		for _, u := range c.uses(b) {
			if u.kind != "file" || u.node.Key != "file" || u.node.Parent == nil || c.projectPath(b, u.name) != path {
				continue
			}
			if v, ok := c.varsOf(u.node.Parent); ok {
				vars = append(vars, v)
			}
		}
	}
	return strings.Join(vars, ","), len(vars) > 0
}

// namespaces returns the words before the dot.
func namespaces(vars string) []string {
	var out []string
	for _, w := range strings.FieldsFunc(vars, func(r rune) bool { return r == ',' || r == ' ' }) {
		if strings.HasPrefix(w, "@") {
			w = "parameters"
		}
		if !slices.Contains(out, w) {
			out = append(out, w)
		}
	}
	return out
}

// references offers the names of a namespace.
func (c *completer) references(ns, vars string, from int) {
	if !slices.Contains(namespaces(vars), ns) {
		return
	}
	switch ns {
	case "parameters":
		for _, u := range c.all(c.workspace, "parameter") {
			c.add(completionItem{Label: u.name, Kind: kindVariable, Detail: c.summary(u), Documentation: markdownOf(u.node.Get("description").String())}, u.name, from, c.at)
		}
		c.add(completionItem{Label: "question", Kind: kindVariable, Detail: "the question for the agent"}, "question", from, c.at)
		for w := range strings.SplitSeq(vars, ",") {
			for _, name := range engine.PromptNames[strings.TrimPrefix(w, "@")] {
				c.add(completionItem{Label: name, Kind: kindVariable, Detail: "built in"}, name, from, c.at)
			}
		}
	case "prompts":
		for _, u := range c.all(c.workspace, "prompt") {
			c.add(completionItem{Label: u.name, Kind: kindModule}, u.name, from, c.at)
		}
	case "args":
		c.arguments(from)
	case "case":
		for _, row := range c.buffer.outline().Get("dataset", "rows").Entries() {
			for _, k := range row.Entries() {
				c.add(completionItem{Label: k.Key, Kind: kindVariable, Detail: "a column of the dataset"}, k.Key, from, c.at)
			}
		}
	case "env":
		c.environment(from)
	}
}

// arguments offers the arguments of the tool around the place.
func (c *completer) arguments(from int) {
	for n := c.buffer.outline().Find(c.at); n != nil; n = n.Parent {
		for _, k := range n.Get("input_schema", "properties").Entries() {
			c.add(completionItem{Label: k.Key, Kind: kindVariable, Detail: k.Get("type").String(), Documentation: markdownOf(k.Get("description").String())}, k.Key, from, c.at)
		}
	}
}

var envReference = text.Regexp(`\$[{<]env\.(\w+)`)

// environment offers the environment variables that the document already names,
// and no others.
func (c *completer) environment(from int) {
	for _, m := range envReference().FindAllStringSubmatchIndex(c.buffer.text.s, -1) {
		if m[2] != from {
			name := c.buffer.text.s[m[2]:m[3]]
			c.add(completionItem{Label: name, Kind: kindVariable}, name, from, c.at)
		}
	}
}
