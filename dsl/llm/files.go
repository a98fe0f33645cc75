package llm

import (
	"slices"
	"strings"

	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/dsl/syntax"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/model"
)

// checkFiles reports the kinds of files that an LLM accepts but its provider cannot send. v is
// the LLM's entry.
func (c *Compiler) checkFiles(v *syntax.Node, m *engine.ModelSpec) {
	items := v.Get("accepts")
	if m.Config == nil || items == nil {
		return
	}
	supported := m.FileSupport().Kinds
	for i, kind := range m.Accepts {
		if slices.Contains(supported, kind) || i >= len(items.Items) || kind == "" {
			continue
		}
		c.Report.Error(diag.BadConfig, items.Items[i].Position, "the provider %s cannot send %s files to models", m.Provider, kind).
			Hint = "remove " + string(kind) + ", or use a provider that can: " + strings.Join(c.sendersOf(kind), ", ")
	}
}

// sendersOf returns the providers that can send files of a kind.
func (c *Compiler) sendersOf(kind model.FileKind) (out []string) {
	for _, f := range c.catalog.Models {
		if sender, ok := f.Config().(model.Multimodal); ok && slices.Contains(sender.FileSupport("").Kinds, kind) {
			out = append(out, f.Type)
		}
	}
	return out
}

// checkFallbackFiles reports the fallbacks of an LLM that do not accept its files: they would
// answer without having read them. v is the LLM's entry.
func (c *Compiler) checkFallbackFiles(v *syntax.Node, m *engine.ModelSpec) {
	items := v.Get("fallback")
	if items == nil {
		return
	}
	for i, name := range m.Fallback {
		at := slices.IndexFunc(c.Specs, func(other engine.ModelSpec) bool { return other.Name == name })
		if at < 0 || i >= len(items.Items) {
			continue
		}
		for _, kind := range m.Accepts {
			if !slices.Contains(c.Specs[at].Accepts, kind) {
				c.Report.Error(diag.BadConfig, items.Items[i].Position, "LLM %s does not accept %s files, and %s does", syntax.Quote(name), kind, syntax.Quote(m.Name)).
					Hint = "the fallback would answer without having read them: add accepts to " + name + ", or remove it from fallback"
			}
		}
	}
}
