package suitespec

import (
	"slices"

	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/dsl/language"
	"github.com/pexctl/pex/dsl/specfs"
	"github.com/pexctl/pex/dsl/syntax"
	"github.com/pexctl/pex/dsl/testspec"
	"github.com/pexctl/pex/engine"
)

// models decodes the LLMs of the suite, and the models that judge and embed.
// Names that the suite does not define refer to its first spec.
func (b *compiler) models() {
	c := b.c
	own := c.Section("llms", b.keys.LLMs)
	if s := b.specs[0]; s != nil {
		for _, m := range s.Program.Models {
			if own.Find(m.Name) == nil {
				c.Specs, c.Names = append(c.Specs, m), append(c.Names, m.Name)
				c.Entries[m.Name] = s.Tree.Get("llms").Get(m.Name)
			}
		}
		c.Names = slices.DeleteFunc(c.Names, func(name string) bool { return c.Entries[name] == nil })
	}
	c.CompileLLMs(b.keys.LLMs)
	if len(own.Entries) == 1 {
		c.Fallback = own.Entries[0].Key
	}
	var used []string
	if v := b.keys.Judge; v != nil {
		var k language.JudgeKeys
		c.Decode(v, "judge", &k)
		b.suite.Judge = &Judge{Rubric: k.Rubric}
		if m := b.model(k.LLM.Name); m != nil {
			b.suite.Judge.Model, b.suite.Judge.KeyAt = *m, b.keyAt(m)
		}
		used = append(used, k.LLM.Name)
	}
	if v := b.keys.Embed; v != nil {
		var k language.EmbedKeys
		c.Decode(v, "embed", &k)
		if b.suite.Embed = b.model(k.LLM.Name); b.suite.Embed != nil {
			b.suite.EmbedKeyAt = b.keyAt(b.suite.Embed)
		}
		used = append(used, k.LLM.Name)
	}
	b.suite.Models = c.Specs
	b.unused(own, used)
}

func (b *compiler) model(name string) *engine.ModelSpec {
	i := slices.IndexFunc(b.c.Specs, func(m engine.ModelSpec) bool { return m.Name == name })
	if i < 0 {
		return nil
	}
	m := b.c.Specs[i]
	return &m
}

// keyAt returns the place of an LLM's API key, or else of its provider.
func (b *compiler) keyAt(m *engine.ModelSpec) testspec.Position {
	v := b.c.Entries[m.Name]
	for _, key := range []string{"api_key_env", "provider"} {
		if at := v.Get(key); at != nil {
			return testspec.PositionOf(at.Position)
		}
	}
	return b.suite.Position
}

// unused warns about LLMs of the suite that nothing uses.
func (b *compiler) unused(own *syntax.Node, named []string) {
	if b.Report.List.Failed() {
		return
	}
	used := b.c.WithFallbacks(named)
	for _, e := range own.Entries {
		derived := slices.ContainsFunc(used, func(u string) bool { return len(u) > len(e.Key) && u[:len(e.Key)+1] == e.Key+"+" })
		if !derived && !slices.Contains(used, e.Key) {
			b.Report.Warn(diag.Unused, e.Position, "LLM %q is not used by judge or embed", e.Key).Hint = "define the agent's own LLMs in its spec; variants override them with set"
		}
	}
}

// trialNeutralKeys are the keys of a suite that affect neither trials nor grades:
// limits, and the comparison of the results.
var trialNeutralKeys = []string{"concurrency", "limits", "max_errors", "gates", "baseline", "quarantine"}

// gradingNeutralKeys are the keys of an LLM that do not affect its replies.
var gradingNeutralKeys = []string{"api_key_env", "timeout", "retry", "rate_limit", "cost"}

// digest sets the digests of the suite.
func (b *compiler) digest() {
	whole := b.tree.Shallow()
	whole.Drop(trialNeutralKeys...)
	b.suite.Digest = specfs.Digest(whole.AppendJSON(nil))
	grading := syntax.NewMap("checks", b.tree.Get("checks"))
	if j := b.suite.Judge; j != nil {
		grading.Set("judge", syntax.Position{}, b.identity(&j.Model))
		grading.Set("rubric", syntax.Position{}, syntax.NewText(j.Rubric.Text))
	}
	if e := b.suite.Embed; e != nil {
		grading.Set("embed", syntax.Position{}, b.identity(e))
	}
	b.suite.GradingDigest = specfs.Digest(grading.AppendJSON(nil))
}

// identity returns what the replies of an LLM depend on.
func (b *compiler) identity(m *engine.ModelSpec) *syntax.Node {
	v := b.c.Entries[m.Name].Shallow()
	v.Drop(gradingNeutralKeys...)
	if !m.SystemPrompt.IsZero() {
		v.Set("system_prompt", syntax.Position{}, syntax.NewText(m.SystemPrompt.Text))
	}
	return v
}
