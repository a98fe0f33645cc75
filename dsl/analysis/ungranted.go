package analysis

import (
	"slices"
	"strings"

	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/dsl/language"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/text"
)

// Ungranted finds tools that no node may call, and patterns of exclude_tools that
// exclude nothing or everything.
var Ungranted = dsl.Analyzer{Name: "ungranted", Codes: []diag.Code{diag.MissingGrant}, Run: func(p *dsl.Pass) {
	if textsOverridden(p) {
		return
	}
	granted := map[string]bool{}
	emptied := false
	for _, n := range parts(p) {
		switch {
		case engine.NodeIs[engine.StepRunner](p.Program, n.id):
			emptied = excluded(p, n) || emptied
			recordGranted(p, n, granted)
		case engine.NodeIs[engine.ToolCaller](p.Program, n.id):
			for _, t := range p.Tools {
				if covers(&t, n.text("", "tool")) {
					granted[t.Spec.Name] = true
				}
			}
		}
	}
	if emptied {
		return // reported once, not for each tool
	}
	for _, t := range p.Tools {
		name := t.Spec.Name
		if p.InSpecFile(t.Entry.Place) && !granted[name] && !p.Uses["tools."+name] && !p.UsedByTests(name) {
			p.Warn(diag.MissingGrant, t.Entry.Place, "no node can call tool %q", name).Hint = grantHint(p, name)
		}
	}
}}

// grantHint describes how to allow calls of a tool.
func grantHint(p *dsl.Pass, name string) string {
	n, inGraph := first(p, language.Executor)
	if e, ok := n.entry("agent"); ok && inGraph {
		return "executor.agent runs the steps with the tools of " + agentFile(e.Value) + "; move the tool there, or remove it"
	}
	if !inGraph {
		return "add a node {id: " + name + ", type: tool, tool: " + name + "}, or remove it"
	}
	return "add it to executor.tools, or remove it"
}

// agentFile returns the file of an agent that is called.
func agentFile(v dsl.Value) string {
	if f := v.Get("file"); f.Exists() {
		return f.Text()
	}
	return v.Text()
}

// recordGranted records the tools that an executor may call: those that match its
// patterns and are not excluded. An executor that is another spec calls none of
// this spec's tools.
func recordGranted(p *dsl.Pass, n part, granted map[string]bool) {
	if _, delegates := n.entry("agent"); delegates {
		return
	}
	tools, excludes := patterns(n, "tools"), patterns(n, "exclude_tools")
	for _, t := range p.Tools {
		if isGranted(&t, tools, excludes) {
			granted[t.Spec.Name] = true
		}
	}
}

// isGranted reports whether a tool, or one tool of a server, matches tools and not
// exclude_tools. Tools of a server that are not pinned can have any name.
func isGranted(t *dsl.Tool, tools, excludes []dsl.Value) bool {
	admitted := func(name string) bool {
		return (tools == nil || matches(tools, name)) && !matches(excludes, name)
	}
	if !t.Server {
		return admitted(t.Spec.Name)
	}
	if t.Pinned {
		return slices.ContainsFunc(t.Members, admitted)
	}
	named := tools == nil || slices.ContainsFunc(tools, func(v dsl.Value) bool { return covers(t, v.Text()) })
	all := slices.ContainsFunc(excludes, func(v dsl.Value) bool { return v.Text() == "*" || v.Text() == t.Spec.Name+"__*" })
	return named && !all
}

// excluded checks exclude_tools. emptied reports whether no tool is left.
func excluded(p *dsl.Pass, n part) (emptied bool) {
	e, ok := n.entry("exclude_tools")
	if !ok || len(p.Tools) == 0 {
		return false
	}
	tools, excludes := patterns(n, "tools"), e.Value.Items()
	if !slices.ContainsFunc(p.Tools, func(t dsl.Tool) bool { return isGranted(&t, tools, excludes) }) {
		if slices.ContainsFunc(p.Tools, func(t dsl.Tool) bool { return isGranted(&t, tools, nil) }) {
			p.Warn(diag.MissingGrant, e.Place, "exclude_tools excludes every tool").Hint = "steps then cannot call tools; list the tools they can call in tools"
			return true
		}
		return false
	}
	for i, v := range excludes {
		if matchesNothing(p, tools, excludes[:i], v) {
			p.Warn(diag.MissingGrant, v.Place(), "excluding %s has no effect: it matches no remaining tool", v.Text()).Hint = "remove it, or correct the name"
		}
	}
	return false
}

// matchesNothing reports whether a pattern matches none of the tools that are left without
// it.
func matchesNothing(p *dsl.Pass, tools, before []dsl.Value, v dsl.Value) bool {
	one := []dsl.Value{v}
	return !slices.ContainsFunc(p.Tools, func(t dsl.Tool) bool {
		if t.Server && !t.Pinned {
			return covers(&t, v.Text()) && isGranted(&t, tools, before)
		}
		names := []string{t.Spec.Name}
		if t.Server {
			names = t.Members
		}
		return slices.ContainsFunc(names, func(name string) bool {
			return matches(one, name) && (tools == nil || matches(tools, name)) && !matches(before, name)
		})
	})
}

// covers reports whether a name or pattern can match the tool, or a tool of the
// server.
func covers(t *dsl.Tool, pattern string) bool {
	if !t.Server {
		return text.Match(pattern, t.Spec.Name)
	}
	if t.Pinned {
		return slices.ContainsFunc(t.Members, func(name string) bool { return text.Match(pattern, name) })
	}
	for i := range pattern {
		if strings.HasPrefix(pattern[i:], "__") && text.Match(pattern[:i], t.Spec.Name) {
			return true
		}
	}
	return strings.ContainsAny(pattern, "*?[") && text.Match(pattern, t.Spec.Name+"__x")
}

func patterns(n part, key string) []dsl.Value {
	e, _ := n.entry(key)
	return e.Value.Items()
}

func matches(globs []dsl.Value, name string) bool {
	return slices.ContainsFunc(globs, func(g dsl.Value) bool { return text.Match(g.Text(), name) })
}
