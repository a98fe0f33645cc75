package prompt_test

import (
	"testing"

	"github.com/pexctl/pex/dsl/prompt"
)

const benchSource = `Objective: ${parameters.question}

Tools:
${parameters.tools_prompt}

Steps done:
${parameters.completed_steps}

Remaining: ${parameters.remaining_steps:-none}
Answer in ${parameters.lang:-English}, as JSON: {"steps": ["..."], "result": "..."}`

func BenchmarkRender(b *testing.B) {
	tpl, _ := prompt.Parse(benchSource, prompt.Options{Namespaces: []string{"parameters"}})
	lookup := from(map[string]any{
		"question": "why is the sky blue?", "tools_prompt": []string{"- search", "- calculator"},
		"completed_steps": []string{"1. a\n", "2. b\n", "3. c\n"}, "lang": nil,
	})
	b.ReportAllocs()
	for b.Loop() {
		tpl.Render(lookup)
	}
}

func BenchmarkParse(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		prompt.Parse(benchSource, prompt.Options{Namespaces: []string{"parameters"}})
	}
}

func TestRenderAllocatesOnce(t *testing.T) {
	tpl, _ := prompt.Parse(benchSource, prompt.Options{Namespaces: []string{"parameters"}})
	lookup := from(map[string]any{"question": "q", "tools_prompt": []string{"a", "b"}, "completed_steps": []string{"c"}})
	if n := testing.AllocsPerRun(100, func() { tpl.Render(lookup) }); n > 1 {
		t.Errorf("%v allocations, want 1", n)
	}
}
