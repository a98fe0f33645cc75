package lsp

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/dsl/guard"
	"github.com/pexctl/pex/dsl/guard/complete"
	"github.com/pexctl/pex/dsl/lsp/language"
	"github.com/pexctl/pex/dsl/lsp/outline"
	"github.com/pexctl/pex/dsl/specfs"
)

// expression is a text that is an expression, and a place in it.
type expression struct {
	node  *outline.Node
	note  *language.Schema
	env   guard.Env
	text  string // decoded by YAML, but with folded lines unchanged
	bytes []int  // maps bytes of the text to those of the document; one more than the text has
	at    int    // offset in the text
}

// expressionAt returns the expression around a byte of a document, or before it
// with only blanks in between. It returns nil if there is none.
func (s *server) expressionAt(b *buffer, workspace []*buffer, at int) *expression {
	n := b.outline().Find(at)
	switch {
	case n != nil && n.Kind == outline.Sequence && n.Style == '[' && n.From < at && at < n.To:
		n = &outline.Node{Parent: n, From: at, To: at} // an item not yet written
	case n == nil || n.Kind != outline.Scalar || n.OnKey(at):
		n = lastBefore(b, at)
	}
	if n == nil {
		return nil
	}
	note := language.Meaning(s.language.Of(n))
	if nameKind(n, note) != "expression" {
		return nil
	}
	env, ok := s.envOf(workspace, n, note)
	if !ok {
		return nil
	}
	x := &expression{node: n, note: note, env: env}
	x.text, x.bytes = written(n, b.text.s)
	if strings.Contains(x.text, "args") {
		x.env = env.WithTools(s.callees(workspace, n))
	}
	if at > n.To && n.Style != 0 { // after its closing quote
		return nil
	}
	if gap := at - n.To; gap > 0 {
		x.text += strings.Repeat(" ", gap)
		for i := range gap {
			x.bytes = append(x.bytes, n.To+i+1)
		}
	}
	x.at, _ = slices.BinarySearch(x.bytes, at)
	x.at = min(x.at, len(x.text))
	return x
}

// lastBefore returns the plain scalar that ends on the line of a byte, with only
// blanks in between.
func lastBefore(b *buffer, at int) (last *outline.Node) {
	end := len(strings.TrimRight(b.text.s[:at], " \t"))
	if start, _ := b.text.line(at); end == at || end <= start {
		return nil
	}
	n := b.outline().Find(end)
	if n == nil || n.Kind != outline.Scalar || n.Style != 0 || n.To != end || n.From == n.To {
		return nil
	}
	return n
}

// written returns the text of a scalar without quotes and escapes, and the offset
// in the document of each of its bytes.
func written(n *outline.Node, s string) (text string, bytes []int) {
	from, to := textStart(n), n.To
	switch n.Style {
	case '|', '>':
		from = min(n.From+strings.IndexByte(s[n.From:n.To]+"\n", '\n')+1, n.To)
	case '"', '\'':
		if to = n.To; to > from && s[to-1] == n.Style {
			to--
		}
	}
	var out strings.Builder
	for at := from; at < to; {
		part, size := s[at:at+1], 1
		switch {
		case n.Style == '\'' && strings.HasPrefix(s[at:to], "''"):
			part, size = "'", 2
		case n.Style == '"' && s[at] == '\\':
			part, size = unescaped(s[at:to])
		}
		out.WriteString(part)
		for range part {
			bytes = append(bytes, at)
		}
		at += size
	}
	return out.String(), append(bytes, max(from, to))
}

// unescaped returns the character of an escape in a double-quoted text, and the
// size of the escape.
func unescaped(s string) (text string, size int) {
	digits := map[byte]int{'x': 2, 'u': 4, 'U': 8}
	switch {
	case len(s) < 2:
		return s, len(s)
	case s[1] == '\n':
		return "", 2
	case strings.IndexByte("ntr0abefv_NLP", s[1]) >= 0:
		return " ", 2
	}
	if n := digits[s[1]]; n > 0 && len(s) >= 2+n {
		if r, err := strconv.ParseUint(s[2:2+n], 16, 32); err == nil && r < utf8.RuneSelf {
			return string(rune(r)), 2 + n
		}
		return "?", 2 + n // some letter
	}
	return s[1:2], 2
}

// envOf returns the environment of an expression.
func (s *server) envOf(workspace []*buffer, n *outline.Node, note *language.Schema) (guard.Env, bool) {
	tag := note.Text("env")
	switch {
	case n.Parent != nil && n.Key == "when" && n.Parent.Parent != nil && n.Parent.Parent.Key == "guards":
		tag = "@" + n.Parent.Get("at").String()
	case n.Parent != nil && n.Key == "approvers" && n.Parent.Parent != nil && n.Parent.Parent.Key == "guards":
		if tag = "@plan_approvers"; n.Parent.Get("at").String() == "before_tool" {
			tag = "@approvers"
		}
	case n.Match("tests.*.expect.*") || n.Match("expect.*"):
		tag = "@tests"
	case n.Match("gates.*"):
		tag = "@gates"
	case n.Match("checks.*") || n.Match("tests.*.checks.*"):
		tag = "@checks"
	}
	place, ok := strings.CutPrefix(tag, "@")
	if !ok {
		env, err := guard.Declared(tag)
		return env, err == nil
	}
	env, ok := guard.Place(place, s.declared(workspace))
	return s.answering(env, workspace, place), ok
}

// callees returns the tools that an expression can be about, from the specs of a
// workspace: for an approval those of its entry, otherwise all.
func (s *server) callees(workspace []*buffer, n *outline.Node) []guard.Tool {
	i := slices.IndexFunc(workspace, func(b *buffer) bool { return b.kind() == "Agent" })
	if i < 0 {
		return nil
	}
	path := workspace[i].path
	o := s.options.Spec
	o.Read = func(path string) ([]byte, error) {
		if b := s.paths[path]; b != nil {
			return []byte(b.text.s), nil
		}
		return nil, specfs.ErrOnDisk
	}
	if spec, _ := dsl.Load(path, o); spec != nil && len(spec.Callees()) > 0 {
		s.tools[path] = spec.Callees()
	}
	all := s.tools[path] // while the file does not parse, the last known ones
	if !n.Match("tools.?.approval") && !n.Match("tools.?.approvers") {
		return all
	}
	entry := n.Parent.Key
	return slices.DeleteFunc(slices.Clone(all), func(t guard.Tool) bool {
		return t.Name != entry && !strings.HasPrefix(t.Name, entry+"__")
	})
}

// answering adds the types of the answer and of dataset rows to an environment,
// if they are declared.
func (s *server) answering(env guard.Env, workspace []*buffer, place string) guard.Env {
	names := complete.Members(env)
	has := func(name string) bool {
		return slices.ContainsFunc(names, func(m guard.Member) bool { return m.Name == name && m.Type == "any value" })
	}
	for _, b := range workspace {
		root := b.outline()
		if schema := root.Get("output", "schema"); schema.Get("properties") != nil && has("output") {
			env = env.With("output", schemaOf(schema, 0))
		}
		if rows := root.Get("dataset", "rows").Entries(); len(rows) > 0 && has("case") && place == "checks" {
			columns := map[string]any{}
			for _, k := range rows[0].Entries() {
				columns[k.Key] = map[string]any{}
			}
			env = env.With("case", map[string]any{"type": "object", "properties": columns})
		}
	}
	return env
}

// declared returns the parameters of a workspace whose types are simple.
func (s *server) declared(workspace []*buffer) map[string]any {
	out := map[string]any{"question": map[string]any{"type": "string"}}
	for _, u := range s.all(workspace, "parameter") {
		out[u.name] = schemaOf(u.node, 0)
	}
	return out
}

func schemaOf(n *outline.Node, depth int) map[string]any {
	out := map[string]any{"type": n.Get("type").String()}
	properties := map[string]any{}
	for _, k := range n.Get("properties").Entries() {
		if depth < outline.MaxDepth {
			properties[k.Key] = schemaOf(k, depth+1)
		}
	}
	if len(properties) > 0 {
		out["properties"] = properties
	}
	if items := n.Get("items"); items != nil && depth < outline.MaxDepth {
		out["items"] = schemaOf(items, depth+1)
	}
	return out
}

// doc returns the documentation of a name in an expression, and its range.
func (x *expression) doc() (text string, from, to int) {
	c := complete.At(x.env, x.text, x.at)
	if !c.Known {
		return "", 0, 0
	}
	text = "**" + c.Current.Name + "**: " + c.Current.Type
	switch {
	case c.Path != "":
		text = "**" + strings.ReplaceAll(c.Path, "`", "'") + "**: " + c.Current.Type
	case strings.HasPrefix(c.Current.Type, c.Current.Name+"("):
		text = "`" + c.Current.Type + "`"
	}
	if c.Current.Doc != "" {
		text += "\n\n" + c.Current.Doc
	}
	if len(c.Current.Words) > 0 {
		text += fmt.Sprintf("\n\nOne of `%s`.", strings.Join(c.Current.Words, "`, `"))
	}
	return text, x.bytes[c.From], x.bytes[c.To]
}

// complete offers what can be written at the place.
func (x *expression) complete(c *completer) {
	cur := complete.At(x.env, x.text, x.at)
	from, to := x.bytes[cur.From], x.bytes[cur.To]
	for _, m := range cur.Choices {
		it := completionItem{Label: m.Name, Kind: kindVariable, Detail: m.Type, Documentation: markdownOf(m.Doc)}
		if strings.HasPrefix(m.Type, m.Name+"(") {
			it.Kind = kindFunction
		}
		x.choice(c, it, from, to, cur.Text)
	}
	for _, w := range cur.Compared.Words {
		c.add(completionItem{Label: w, Kind: kindValue}, w, from, to)
	}
	if cur.Compared.Of == "tool" || cur.Owner.Of == "tool" && len(cur.Choices) == 0 {
		for _, u := range c.all(c.workspace, "tool") {
			if cur.Text || newIdentifier().MatchString(u.name) {
				c.add(completionItem{Label: u.name, Kind: kindModule, Detail: c.summary(u)}, u.name, from, to)
			}
		}
	}
	if strings.TrimSpace(x.text[:cur.From]) != "" || cur.Text {
		return
	}
	for w := range strings.SplitSeq(x.note.Text("words"), "|") {
		if w != "" {
			c.add(completionItem{Label: w, Kind: kindValue}, w, from, to)
		}
	}
}

// choice offers a name. A name that is not an identifier is written as an index.
func (x *expression) choice(c *completer, it completionItem, from, to int, quoted bool) {
	if quoted || newIdentifier().MatchString(it.Label) || it.Kind == kindFunction {
		c.add(it, it.Label, from, to)
		return
	}
	if text := indexOf(x.node, it.Label); text != "" {
		start := beforeDot(c.buffer.text.s, from)
		it.FilterText = c.buffer.text.s[start:from] + it.Label
		c.add(it, text, start, to)
	}
}
