package anthropic_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/providers/anthropic"
)

// enforcedSchema returns the schema that the API is asked to enforce, or "" if it is in the prompt.
func enforcedSchema(t *testing.T, c anthropic.Config, schema string) string {
	t.Helper()
	req := *question
	req.Schema = &model.ReplySchema{Name: "s", Schema: json.RawMessage(schema)}
	raw, _ := sent(t, c, model.Settings{}, &req, nil)
	var got struct {
		System       []struct{ Text string }
		OutputConfig struct {
			Format struct {
				Type   string
				Schema json.RawMessage
			}
		} `json:"output_config"`
	}
	if err := json.Unmarshal(raw, &got); err != nil {
		t.Fatal(err)
	}
	if got.OutputConfig.Format.Type == "" {
		if len(got.System) != 1 || !strings.HasSuffix(got.System[0].Text, "\n"+schema) {
			t.Errorf("the schema is neither enforced nor in the prompt: %s", raw)
		}
		return ""
	}
	return string(got.OutputConfig.Format.Schema)
}

// Conversions of schemas are tested in modelhttp/schemasubset.
func TestSchemasThatTheAPIEnforces(t *testing.T) {
	tests := []struct{ name, schema, want string }{
		{
			"converted", `{"type":"object","properties":{"b":{"type":"string","minLength":1},"a":{"enum":["x",null]}},"required":["b"]}`,
			`{"type":"object","properties":{"b":{"type":"string"},"a":{"enum":["x",null]}},"required":["b"],"additionalProperties":false}`,
		},
		{"what cannot", anything, ""},
		{"a list", `{"type":"array","items":{"type":"string"}}`, ""},
		{"too many optional", optional(25), ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := enforcedSchema(t, defaults(), tt.schema); got != tt.want {
				t.Errorf("held to %s\nwant    %s", got, tt.want)
			}
		})
	}
}

// optional returns a schema with n optional properties.
func optional(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `"p%d":{"type":"string"},`, i)
	}
	return `{"type":"object","properties":{` + b.String() + `"z":{"type":"string"}},"required":["z"]}`
}

func TestSchemaIsInThePromptIfNoToolCanBeForced(t *testing.T) {
	tests := []struct {
		name   string
		change func(*anthropic.Config)
		schema string
	}{
		{"it thinks", func(c *anthropic.Config) { c.Thinking = "adaptive" }, plans},
		{"it has a budget to think", func(c *anthropic.Config) { c.ThinkingBudget = 2048 }, plans},
		{"no object", func(*anthropic.Config) {}, `{"type":"array"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := defaults()
			c.StructuredOutput = "tool"
			tt.change(&c)
			if got := enforcedSchema(t, c, tt.schema); got != "" {
				t.Errorf("held to %s", got)
			}
		})
	}
}
