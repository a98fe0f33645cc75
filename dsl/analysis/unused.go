package analysis

import (
	"slices"
	"strings"

	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/dsl/language"
)

// question is the parameter that every agent has, even if no text refers to it.
const question = "question"

// Unused finds LLMs, prompts and parameters that nothing refers to. It ignores
// files shared by several specs, because another spec may use them.
var Unused = dsl.Analyzer{Name: "unused", Codes: []diag.Code{diag.Unused}, Run: func(p *dsl.Pass) {
	if p.Spec.Agent == "" { // what agents of a file share belongs to the file
		unusedLLMs(p)
		unusedPrompts(p)
	}
	unusedParameters(p)
}}

func unusedLLMs(p *dsl.Pass) {
	tree := p.Spec.Tree()
	if slices.ContainsFunc(language.Roles, func(role string) bool { return p.Overridden(tree.Get(role, "llm")) }) {
		return
	}
	for _, e := range tree.Get("llms").Entries() {
		if !p.InSpecFile(e.Place) || p.Uses["llms."+e.Key] || derived(p, e.Key) || p.UsedByTests(e.Key) {
			continue
		}
		p.Warn(diag.Unused, e.Place, "LLM %q is never used", e.Key).
			Hint = "write planner: {llm: " + e.Key + "} or select it in another node or tool; otherwise remove it"
	}
}

// derived reports whether a role uses an LLM with keys of its own over it.
func derived(p *dsl.Pass, llm string) bool {
	for name := range p.Uses {
		if strings.HasPrefix(name, "llms."+llm+"+") {
			return true
		}
	}
	return false
}

// texts are the sections whose templates and expressions refer to prompts and
// parameters.
var texts = []string{language.Planner, language.Executor, language.Reflector, language.Finalizer, "graph", "tools", "llms", "guards", "output", "memory"}

func textsOverridden(p *dsl.Pass) bool {
	tree := p.Spec.Tree()
	return slices.ContainsFunc(texts, func(key string) bool { return p.Overridden(tree.Get(key)) })
}

func unusedPrompts(p *dsl.Pass) {
	if textsOverridden(p) {
		return
	}
	for _, e := range p.Spec.Tree().Get("prompts").Entries() {
		if p.InSpecFile(e.Place) && !p.Uses["prompts."+e.Key] && !p.UsedByTests(e.Key) {
			p.Warn(diag.Unused, e.Place, "prompt %q is never used", e.Key).
				Hint = "use it in a node: {use: " + e.Key + "}; otherwise remove it"
		}
	}
}

func unusedParameters(p *dsl.Pass) {
	if p.Uses["parameters"] || textsOverridden(p) {
		return
	}
	for _, e := range p.Spec.Tree().Get("parameters").Entries() {
		if p.InSpecFile(e.Place) && e.Key != question && !p.Uses["parameters."+e.Key] {
			p.Warn(diag.Unused, e.Place, "parameter %q is not used in any template or expression", e.Key).
				Hint = "write ${parameters." + e.Key + "} where the model needs it; models do not see parameters otherwise"
		}
	}
}
