package edit

import (
	"slices"
	"strings"

	"github.com/pexctl/pex/dsl/config"
	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/dsl/syntax"
	"github.com/pexctl/pex/engine"
)

// Check reports the edits that change no prompt for models. uses are those of the decoded
// tree, and section is its section prompts.
func (all Edits) Check(r *syntax.Report, uses []config.PromptUse, section *syntax.Node, agents []*engine.Program) {
	for _, e := range all {
		isUse := func(p config.PromptUse) bool { return p.Value.Source == e.source }
		isFixed := func(p config.PromptUse) bool { return isUse(p) && p.Fixed }
		name, isNamed := strings.CutPrefix(e.local, named)
		at := syntax.Position{Source: e.source}
		if i := slices.IndexFunc(uses, isFixed); i >= 0 {
			why, hint := whyFixed(uses[i])
			e.replaceErrors(r).Error(diag.NotAllowed, at, "a fork cannot edit %s: %s", e.local, why).Hint = hint
		} else if !e.found && (!isNamed || section.Find(name) == nil) && !slices.ContainsFunc(uses, isUse) {
			e.replaceErrors(r).Error(diag.UnknownPrompt, at, "undefined prompt %s", syntax.Quote(e.local)).
				Advice = diag.Suggest(e.local, editable(uses, section, agents))
		}
	}
}

// whyFixed says why a use of a prompt is fixed, and what to do instead.
func whyFixed(p config.PromptUse) (why, hint string) {
	switch {
	case p.Part:
		return "a schema or a question to people contains it", "start a new run with an edited spec"
	case strings.HasSuffix(p.Path, ".system_prompt"):
		return "it is a setting of an LLM", "edit the system prompt of the role or node, which replaces that of the LLM"
	}
	return "it is a question to people", "start a new run with an edited spec"
}

// replaceErrors removes the diagnostics about the text of an edit, which are pointless if it
// is no prompt.
func (e *Edit) replaceErrors(r *syntax.Report) *syntax.Report {
	r.List = slices.DeleteFunc(r.List, func(d diag.Diagnostic) bool { return d.File == e.source.Name })
	return r
}

// editable returns the names of the prompts that can be edited.
func editable(uses []config.PromptUse, section *syntax.Node, agents []*engine.Program) (out []string) {
	p := engine.Program{Prompts: Prompts(uses, section), Agents: agents}
	for _, q := range p.AllPrompts() {
		if !q.Fixed {
			out = append(out, q.Name)
		}
	}
	return out
}

// Prompts returns the prompts of a program, given their uses and the section prompts.
func Prompts(uses []config.PromptUse, section *syntax.Node) (out []engine.Prompt) {
	add := func(p engine.Prompt) {
		if !slices.ContainsFunc(out, func(o engine.Prompt) bool { return o.Name == p.Name }) {
			out = append(out, p)
		}
	}
	fixed := map[string]bool{}
	for _, u := range uses {
		if fixed[u.Use] = fixed[u.Use] || u.Fixed; !u.Part {
			add(engine.Prompt{
				Name: strings.TrimPrefix(u.Path, nodesPath), Text: u.Value.Text, Use: u.Use, References: u.References, BuiltIn: u.BuiltIn, Fixed: u.Fixed,
			})
		}
	}
	for _, e := range section.Entries {
		add(engine.Prompt{Name: named + e.Key, Text: e.Value.Text, Fixed: fixed[e.Key]})
	}
	return out
}
