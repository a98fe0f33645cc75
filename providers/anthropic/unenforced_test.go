package anthropic_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/providers/anthropic"
)

func TestUnenforcedKeywordsOfASchema(t *testing.T) {
	unions := strings.Repeat(`{"type":["string","null"]},`, 16)
	tests := []struct{ name, schema, want string }{
		{"it is", `{"type":"object","properties":{"a":{"type":"string"}}}`, ""},
		{"any value inside", `{"type":"object","properties":{"a":{}}}`, "/properties/a: it allows any value"},
		{"too many optional", optional(25), ": 25 properties are optional; the maximum is 24"},
		{"too many of several types", `{"type":"object","properties":{"a":{"anyOf":[` + unions + `{"type":"null"}]}}}`, ": 17 values have several types; the maximum is 16"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := defaults()
			var got []string
			for _, f := range c.UnenforcedKeywords(model.Settings{}, json.RawMessage(tt.schema)) {
				got = append(got, f.At+": "+f.Message)
			}
			if text := strings.Join(got, "\n"); text != tt.want {
				t.Errorf("%q, want %q", text, tt.want)
			}
			if prompted := enforcedSchema(t, c, tt.schema) == ""; prompted != (tt.want != "") {
				t.Errorf("schema in the prompt: %v", prompted)
			}
		})
	}
}

func TestUnenforcedKeywordsAreReportedOnlyForTheAPI(t *testing.T) {
	tests := []struct {
		name, how, base, schema string
		want                    int
	}{
		{"Anthropic's", "json_schema", "", `{"type":"object"}`, 1},
		{"by a tool", "tool", "", `{"type":"object"}`, 0},
		{"in words", "prompt", "", `{"type":"object"}`, 0},
		{"nothing", "none", "", `{"type":"object"}`, 0},
		{"another server", "json_schema", "https://example.com", `{"type":"object"}`, 0},
		{"no JSON", "json_schema", "", `{`, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := anthropic.Config{StructuredOutput: tt.how}
			if got := c.UnenforcedKeywords(model.Settings{BaseURL: tt.base}, json.RawMessage(tt.schema)); len(got) != tt.want {
				t.Errorf("%d faults, not %d: %v", len(got), tt.want, got)
			}
		})
	}
}
