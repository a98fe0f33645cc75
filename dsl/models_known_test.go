package dsl_test

import (
	"os"
	"strings"
	"testing"

	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/dsl/pricing"
)

func TestModelNamesAreCheckedAgainstKnownOnes(t *testing.T) {
	tests := []struct{ llm, want string }{
		{"{provider: openai, model: gpt-5.4-minii}", "did you mean gpt-5.4-mini?"},
		{"{provider: openai, model: gpt5}", "did you mean gpt-5?"},
		{"{provider: openai, model: gtp-5}", "did you mean gpt-5?"},
		{"{provider: anthropic, model: claude-sonet-5}", "did you mean claude-sonnet-5?"},
		{"{provider: openai, model: claude-sonnet-5}", "write provider: anthropic"},
		{"{provider: anthropic, model: gpt-5.4-mini}", "write provider: openai"},
		{"{provider: openai, model: gemini-2.5-pro}", "write provider: googleai"},
		// Models that may exist, or that another vendor serves, are accepted.
		{"{provider: openai, model: gpt-5.4-mini}", ""},
		{"{provider: openai, model: gpt-9.1-mini}", ""},
		{"{provider: openai, model: gpt-5.4-mini-2026-03-05}", ""},
		{"{provider: openai, model: gpt-5.4-giant}", ""},
		{"{provider: openai, model: gpt-x}", ""},
		{"{provider: openai, model: 'ft:gpt-5.4-minii:me'}", ""},
		{"{provider: openai, model: gpt-5.4-minii, base_url: 'http://mine/v1'}", ""},
		{"{provider: openai, model: claude-sonnet-5, base_url: 'http://mine/v1'}", ""},
		{"{provider: bedrock, model: ca.anthropic.claude-sonnet-4-6}", ""},
	}
	for _, tt := range tests {
		t.Run(tt.llm, func(t *testing.T) {
			t.Chdir(t.TempDir())
			if err := os.WriteFile("spec.yaml", []byte(pricedSpec(tt.llm, "")), 0o600); err != nil {
				t.Fatal(err)
			}
			_, _, found := dsl.Compile("spec.yaml", dsl.Options{Catalog: catalog, Prices: pricing.Recorded(nil, pricing.Known())})
			hint := ""
			for _, d := range found {
				if d.Code == "PEX085" {
					hint = d.Hint
				}
			}
			if (hint == "") != (tt.want == "") || !strings.Contains(hint, tt.want) {
				t.Errorf("hint %q, want %q", hint, tt.want)
			}
		})
	}
}
