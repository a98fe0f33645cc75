package dsl

import (
	"slices"

	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/dsl/syntax"
)

// foreignFormat reports a file in the format of another tool, once and instead of
// everything that is wrong with it as a spec. A file that has an apiVersion or a
// kind is meant to be a spec.
func (l *loader) foreignFormat(tree *syntax.Node) bool {
	if tree == nil || tree.Kind != syntax.Map || tree.Get("apiVersion") != nil || tree.Get("kind") != nil {
		return false
	}
	has := func(keys ...string) bool {
		return !slices.ContainsFunc(keys, func(key string) bool { return tree.Find(key) == nil })
	}
	switch {
	case anyEntry(tree.Get("agents"), "instruction", "toolsets", "sub_agents"):
		l.otherTool(tree.Find("agents"), "a docker agent configuration",
			"pexctl init writes a spec; there instruction is executor: {executor_system_prompt: ...}, model an entry of llms, toolsets are tools, and sub_agents tools of type: agent")
	case has("prompts", "providers") || has("providers", "tests"):
		l.otherTool(tree.Find("providers"), "a promptfoo configuration",
			"pexctl init writes a spec with tests and a suite; there providers are llms, and tests with assert are the cases and checks of a suite, which pexctl eval runs")
	case entriesHave(tree, "role", "goal", "backstory"):
		l.otherTool(tree.Entries[0], "a CrewAI file of agents",
			"pexctl init writes a spec; there role, goal and backstory are executor: {executor_system_prompt: ...}, and several agents are tools of type: agent")
	default:
		return false
	}
	return true
}

func (l *loader) otherTool(at *syntax.Entry, what, hint string) {
	l.Report.Error(diag.WrongKind, at.Position, "the file is %s, not a spec", what).Hint = hint
}

// anyEntry says that one of the mappings in a mapping has one of the keys.
func anyEntry(v *syntax.Node, keys ...string) bool {
	if v == nil || v.Kind != syntax.Map {
		return false
	}
	return slices.ContainsFunc(v.Entries, func(e *syntax.Entry) bool {
		return e.Value.Kind == syntax.Map && slices.ContainsFunc(keys, func(key string) bool { return e.Value.Find(key) != nil })
	})
}

// entriesHave says that a mapping holds mappings, each with all of the keys.
func entriesHave(v *syntax.Node, keys ...string) bool {
	return len(v.Entries) > 0 && !slices.ContainsFunc(v.Entries, func(e *syntax.Entry) bool {
		return e.Value.Kind != syntax.Map || slices.ContainsFunc(keys, func(key string) bool { return e.Value.Find(key) == nil })
	})
}
