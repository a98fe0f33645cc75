package dsl

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/engine"
)

// models reads the llms of the suite, and the models that judge and embed.
// Names that the suite does not have are those of its first spec.
func (b *suiter) models() {
	c := b.c
	c.doc.LLMs = b.keys.LLMs
	own := c.section("llms", b.keys.LLMs)
	if s := b.specs[0]; s != nil {
		for _, m := range s.program.Models {
			if own.find(m.Name) == nil {
				c.models, c.llmNames = append(c.models, m), append(c.llmNames, m.Name)
				c.llmValues[m.Name] = s.tree.get("llms").get(m.Name)
			}
		}
		c.llmNames = slices.DeleteFunc(c.llmNames, func(name string) bool { return c.llmValues[name] == nil })
	}
	c.llms()
	if len(own.entries) == 1 {
		c.defaultModel = own.entries[0].key
	}
	var used []string
	if v := b.keys.Judge; v != nil {
		var k judgeKeys
		c.decode(v, "judge", &k)
		b.suite.Judge = &Judge{Rubric: k.Rubric}
		if m := b.model(k.LLM.Name); m != nil {
			b.suite.Judge.Model, b.suite.Judge.KeyAt = *m, b.keyAt(m)
		}
		used = append(used, k.LLM.Name)
	}
	if v := b.keys.Embed; v != nil {
		var k embedKeys
		c.decode(v, "embed", &k)
		if b.suite.Embed = b.model(k.LLM.Name); b.suite.Embed != nil {
			b.suite.EmbedKeyAt = b.keyAt(b.suite.Embed)
		}
		used = append(used, k.LLM.Name)
	}
	b.suite.Models = c.models
	b.unused(own, used)
}

func (b *suiter) model(name string) *engine.ModelSpec {
	i := slices.IndexFunc(b.c.models, func(m engine.ModelSpec) bool { return m.Name == name })
	if i < 0 {
		return nil
	}
	m := b.c.models[i]
	return &m
}

// keyAt is where the API key of an llm is named, or else its provider.
func (b *suiter) keyAt(m *engine.ModelSpec) Position {
	v := b.c.llmValues[m.Name]
	for _, key := range []string{"api_key_env", "provider"} {
		if at := v.get(key); at != nil {
			return at.place.position()
		}
	}
	return b.suite.Position
}

// unused warns about llms of the suite that nothing uses.
func (b *suiter) unused(own *value, named []string) {
	if b.report.list.Failed() {
		return
	}
	used := b.c.usedModels(named)
	for _, e := range own.entries {
		derived := slices.ContainsFunc(used, func(u string) bool { return len(u) > len(e.key) && u[:len(e.key)+1] == e.key+"+" })
		if !derived && !slices.Contains(used, e.key) {
			b.report.warn(diag.Unused, e.place, "neither judge nor embed uses the llm %s", e.key).Hint = "the agent's own models stand in its spec; variants override them by set"
		}
	}
}

// notOfTrials are the keys of a suite that change no trial and no mark: how much
// it may take, and what the whole is compared with.
var notOfTrials = []string{"concurrency", "limits", "max_errors", "gates", "baseline", "quarantine"}

// notOfGrading are the keys of an llm that change nothing it says.
var notOfGrading = []string{"api_key_env", "timeout", "retry", "rate_limit", "cost"}

// seal gives the suite its digests.
func (b *suiter) seal() {
	whole := b.tree.shallow()
	whole.drop(notOfTrials...)
	b.suite.Digest = digest(whole.appendJSON(nil))
	grading := object("checks", b.tree.get("checks"))
	if j := b.suite.Judge; j != nil {
		grading.set("judge", place{}, b.identity(&j.Model))
		grading.set("rubric", place{}, word(j.Rubric.Text))
	}
	if e := b.suite.Embed; e != nil {
		grading.set("embed", place{}, b.identity(e))
	}
	b.suite.GradingDigest = digest(grading.appendJSON(nil))
}

// identity is what an llm says depends on.
func (b *suiter) identity(m *engine.ModelSpec) *value {
	v := b.c.llmValues[m.Name].shallow()
	v.drop(notOfGrading...)
	if !m.SystemPrompt.IsZero() {
		v.set("system_prompt", place{}, word(m.SystemPrompt.Text))
	}
	return v
}

// digest names a content.
func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return "sha256:" + hex.EncodeToString(sum[:])
}
