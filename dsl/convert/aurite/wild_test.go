package aurite_test

import (
	"strings"
	"testing"

	"github.com/pexctl/pex/dsl/convert"
	"github.com/pexctl/pex/dsl/convert/aurite"
)

// TestAuriteAgentsWithoutAnLLM checks the provider of a model that an agent names
// itself: the one that the agent names, or by LiteLLM's prefix, or by the model's
// name.
func TestAuriteAgentsWithoutAnLLM(t *testing.T) {
	for _, tc := range []struct{ name, agent, provider, model string }{
		{"the provider of its llm", `"llm": {"provider": "openai", "model": "ft-7"}`, "provider: openai", "model: ft-7"},
		{"the provider of its own", `"provider": "Gemini", "model": "flash"`, "provider: googleai", "model: flash"},
		{"a prefix", `"model": "openai/gpt-4"`, "provider: openai", "model: gpt-4"},
		{"a prefix with an address", `"model": "groq/llama-3"`, "base_url: https://api.groq.com/openai/v1", "model: llama-3"},
		{"a slash that is none", `"model": "acme/gpt-4"`, "provider: anthropic", "model: acme/gpt-4"},
		{"a name", `"model": "o4-mini"`, "provider: openai", "model: o4-mini"},
		{"nothing", `"temperature": 0`, "provider: anthropic", "model: to-be-filled-in"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			src := `[{"type": "agent", "name": "a", "system_prompt": "Hi", ` + tc.agent + `}]`
			made, err := aurite.Convert(convert.Input{Name: "a.json", Text: []byte(src)})
			if err != nil {
				t.Fatal(err)
			}
			spec := string(made.Files[0].Text)
			if !strings.Contains(spec, tc.provider+"\n") || !strings.Contains(spec, tc.model+"\n") {
				t.Errorf("want %s and %s in\n%s", tc.provider, tc.model, spec)
			}
			for _, n := range made.Notes {
				if strings.HasSuffix(n.Path, "provider") {
					t.Errorf("the provider was taken, and a note says: %+v", n)
				}
			}
		})
	}
}
