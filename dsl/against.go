package dsl

import (
	"bytes"
	"encoding/json"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/dsl/prompt"
	"github.com/pexctl/pex/dsl/syntax"
	"github.com/pexctl/pex/engine"
)

// newAgainst makes a compiler for what refers to specs: it knows their
// parameters, and the prompts of the first. With a nil one among them nothing
// is known, and any name may be used.
func newAgainst(l *loader, tree *syntax.Node, dir string, specs ...*Spec) *compiler {
	c := newCompiler(l, tree, dir)
	c.quiet = true
	if c.free = len(specs) == 0 || slices.Contains(specs, nil); c.free {
		return c
	}
	c.against = specs
	for _, s := range specs {
		for _, p := range s.program.Parameters {
			c.meet(p)
		}
	}
	if v := specs[0].tree.Get("prompts"); v != nil && v.Kind == syntax.Map {
		c.doc.Prompts = v
	}
	return c
}

// meet adds a parameter to those that are known. One that another spec declares
// otherwise has no type, and may be unset if it may be in one of them.
func (c *compiler) meet(p engine.Parameter) {
	i := slices.IndexFunc(c.params, func(q engine.Parameter) bool { return q.Name == p.Name })
	if i < 0 {
		var property any
		_ = json.Unmarshal(p.Schema, &property) // it was compiled
		c.params, c.properties[p.Name] = append(c.params, p), property
		return
	}
	q := c.params[i]
	if !bytes.Equal(p.Schema, q.Schema) {
		c.properties[p.Name] = nil
	}
	if !p.Required && p.Default == nil {
		c.params[i] = p
	}
}

// columns are what rows of a dataset have: what ${case.x} may name.
type columns struct {
	names []string
	none  bool // there is no dataset
	some  bool // only some rows were looked at
}

// add adds the keys of a row.
func (k *columns) add(row *syntax.Node) {
	for _, e := range row.Entries {
		if !slices.Contains(k.names, e.Key) {
			k.names = append(k.names, e.Key)
		}
	}
}

// lack says that no row has a column.
func (k *columns) lack(name string) bool {
	return k != nil && !k.some && !slices.Contains(k.names, name)
}

func (k *columns) knowledge(name string) prompt.Knowledge {
	return prompt.Knowledge{Declared: k.some || slices.Contains(k.names, name), Names: k.names}
}

// schema is that of a row.
func (k *columns) schema() any {
	properties := map[string]any{}
	for _, name := range k.names {
		properties[name] = map[string]any{}
	}
	return map[string]any{"type": "object", "properties": properties, "additionalProperties": k.some}
}

// doubtful warns about the columns of a template that none of the rows that
// were looked at has.
func (c *compiler) doubtful(v *syntax.Node, names []string) {
	if c.columns == nil || !c.columns.some {
		return
	}
	for _, full := range names {
		name, ok := strings.CutPrefix(full, "case.")
		known := func(column string) bool {
			return name == column || strings.HasPrefix(name, column+".") || strings.HasPrefix(name, column+"[")
		}
		if !ok || slices.ContainsFunc(c.columns.names, known) {
			continue
		}
		at := v.PositionAt(max(strings.Index(v.Text, full), 0))
		c.report.Warn(diag.UnknownName, at, "none of the first rows has a column %s", syntax.Quote(name)).Advice = diag.Suggest(name, c.columns.names)
	}
}

// hint says what there is, for a column that is not.
func (k *columns) hint(known diag.Advice) diag.Advice {
	switch {
	case k.none:
		return diag.Advice{Hint: "a test has no dataset: write the value itself"}
	case known.Fix.New != "":
		return known
	}
	return diag.Advice{Hint: "the dataset's columns: " + diag.Suggest("", k.names).Hint}
}

// toolNames lists the tools of a spec, and of the agents in it, with those of
// servers that are pinned. servers are the others, whose tools are known only
// when they run.
func (s *Spec) toolNames() (names, servers []string) { return s.toolsIn(s.tree, s.File) }

func (s *Spec) toolsIn(tree *syntax.Node, file string) (names, servers []string) {
	v := tree.Get("tools")
	if v == nil {
		v = &syntax.Node{Kind: syntax.Map}
	}
	for _, e := range v.Entries {
		if syntax.TextOf(e.Value, "type") != server {
			names = append(names, e.Key)
		} else if pinned := s.pinOf(file, e.Key); pinned != nil {
			names = append(names, pinned.Members()...)
		} else {
			names, servers = append(names, e.Key), append(servers, e.Key)
		}
	}
	for _, agent := range agentsIn(tree, nil) {
		within := filepath.Join(filepath.Dir(file), filepath.FromSlash(syntax.TextOf(agent, "file")))
		n, more := s.toolsIn(agent.Get("spec"), within)
		names, servers = append(names, n...), append(servers, more...)
	}
	return names, servers
}

// agentsIn finds the resolved specs that stand in one: {file, spec}.
func agentsIn(v *syntax.Node, out []*syntax.Node) []*syntax.Node {
	for _, it := range v.Items {
		out = agentsIn(it, out)
	}
	for _, e := range v.Entries {
		if spec := e.Value.Get("spec"); spec != nil && spec.Kind == syntax.Map && spec.Find("apiVersion") != nil {
			out = append(out, e.Value)
			continue
		}
		out = agentsIn(e.Value, out)
	}
	return out
}

// toolWord checks the name of a tool, or a pattern of names.
func (c *compiler) toolWord(s *Spec, v *syntax.Node, name string, severity diag.Severity) {
	if s == nil || name == "" {
		return
	}
	names, servers := s.toolNames()
	matches := func(n string) bool { ok, err := path.Match(name, n); return ok && err == nil }
	served := func(entry string) bool { return slices.Contains(servers, entry) }
	if slices.ContainsFunc(entriesOf(name), served) || slices.ContainsFunc(names, matches) || strings.HasPrefix(name, "*") && len(servers) > 0 {
		return
	}
	c.report.Add(diag.UnknownTool, severity, v.Position, "%s has no tool %s", c.loader.files.Shown(s.File), syntax.Quote(name)).Advice = diag.Suggest(name, names)
}
