package analysis

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/dsl/diag"
)

// Shadowed finds tools whose name suggests a different tool, and fixed arguments
// that the tool does not have.
var Shadowed = dsl.Analyzer{Name: "shadowed", Codes: []diag.Code{diag.ShadowedTool, diag.NoEffect}, Run: func(p *dsl.Pass) {
	plain := plainNames(p.Tools)
	for i := range p.Tools {
		t := &p.Tools[i]
		if p.InSpecFile(t.Entry.Place) {
			warnBuiltinName(p, t)
			warnServerTool(p, t)
		}
		warnSimilar(p, i, plain)
		checkFixed(p, t)
	}
}}

// reachTypes are the types that describe how a tool is reached, not what it does.
var reachTypes = []string{"builtin", "http", "command", "mcp", "agent"}

// warnBuiltinName finds a tool that has the name of a builtin but another type.
func warnBuiltinName(p *dsl.Pass, t *dsl.Tool) {
	name := t.Spec.Name
	if _, builtin := p.Catalog.Tools.Find(name); !builtin || t.Spec.Type == name || slices.Contains(reachTypes, name) {
		return
	}
	p.Warn(diag.ShadowedTool, t.Entry.Place, "tool %q is not the built-in tool %q: its type is %s", name, name, t.Spec.Type).
		Hint = "rename it, so that readers do not confuse the two"
}

// warnServerTool finds an entry with the same name as a server's tool, which is then
// left out.
func warnServerTool(p *dsl.Pass, t *dsl.Tool) {
	for _, server := range p.Tools {
		prefix := server.Spec.Name + "__"
		if !server.Server || !strings.HasPrefix(t.Spec.Name, prefix) {
			continue
		}
		if t.Server {
			p.Warn(diag.ShadowedTool, t.Entry.Place, "tools of server %q whose names start with %s are dropped: those names belong to this entry", server.Spec.Name, t.Spec.Name[len(prefix):]+"__").
				Hint = "rename one of the two servers"
		} else if !server.Pinned || slices.Contains(server.Members, t.Spec.Name) {
			p.Warn(diag.ShadowedTool, t.Entry.Place, "tool %q of server %q is dropped: this entry has its name", t.Spec.Name[len(prefix):], server.Spec.Name).
				Hint = "rename this entry"
		}
	}
}

// plainNames returns the names of tools in the form in which humans and models
// tell them apart.
func plainNames(tools []dsl.Tool) []string {
	strokes := strings.NewReplacer("-", "", "_", "")
	out := make([]string, len(tools))
	for i := range tools {
		out[i] = strings.ToLower(strokes.Replace(tools[i].Spec.Name))
	}
	return out
}

// warnSimilar finds a tool before the i-th that humans and models confuse with it.
func warnSimilar(p *dsl.Pass, i int, plain []string) {
	t := &p.Tools[i]
	for j := range i {
		other := &p.Tools[j]
		if plain[j] == plain[i] && (p.InSpecFile(t.Entry.Place) || p.InSpecFile(other.Entry.Place)) {
			p.Warn(diag.ShadowedTool, t.Entry.Place, "the tool names %q and %q differ only in letter case or in - and _", other.Spec.Name, t.Spec.Name).
				Hint = "rename one of them; models confuse them"
			return
		}
	}
}

// checkFixed finds values of `with` for arguments that the tool does not have. A call
// with such a value is rejected.
func checkFixed(p *dsl.Pass, t *dsl.Tool) {
	names, closed := argumentsOf(t)
	if !closed {
		return
	}
	for _, e := range t.Entry.Value.Get("with").Entries() {
		if slices.Contains(names, e.Key) {
			continue
		}
		d := p.Warn(diag.NoEffect, e.Place, "tool %q has no argument %q, so every call fails", t.Spec.Name, e.Key)
		if d.Hint = "its arguments are " + strings.Join(names, ", "); len(names) == 0 {
			d.Hint = "it takes no arguments"
		}
		if near := diag.Nearest(e.Key, names); near != "" {
			d.Advice = diag.DidYouMean(e.Key, near, "")
		}
	}
}

// argumentsOf returns the names of a tool's arguments. closed reports whether it
// accepts no others.
func argumentsOf(t *dsl.Tool) (names []string, closed bool) {
	var in struct {
		Properties map[string]json.RawMessage `json:"properties"`
		Patterns   json.RawMessage            `json:"patternProperties"`
		Additional *bool                      `json:"additionalProperties"`
	}
	if len(t.Info.Input) == 0 || t.Server || json.Unmarshal(t.Info.Input, &in) != nil {
		return nil, false
	}
	for name := range in.Properties {
		names = append(names, name)
	}
	slices.Sort(names)
	return names, in.Additional != nil && !*in.Additional && in.Patterns == nil
}
