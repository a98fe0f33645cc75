package anthropic_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/providers/anthropic"
)

// held is the schema that the model is held to, "" where it is told of one.
func held(t *testing.T, c anthropic.Config, schema string) string {
	t.Helper()
	req := *question
	req.Schema = &engine.ReplySchema{Name: "s", Schema: json.RawMessage(schema)}
	raw, _ := sent(t, c, engine.ModelSettings{}, &req, nil)
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
			t.Errorf("neither held to the schema nor told of it: %s", raw)
		}
		return ""
	}
	return string(got.OutputConfig.Format.Schema)
}

func TestSchemasThatAModelIsHeldTo(t *testing.T) {
	tests := []struct{ name, schema, want string }{
		{
			"closed", `{"type":"object","properties":{"b":{"type":"string"},"a":{"enum":["x",null]}},"required":["b"],"additionalProperties":false}`,
			`{"type":"object","properties":{"b":{"type":"string"},"a":{"enum":["x",null]}},"required":["b"],"additionalProperties":false}`,
		},
		{
			"left open by the way", `{"type":"object","properties":{"l":{"type":"array","items":{"type":"object","properties":{"x":{"type":"number"}}}}}}`,
			`{"type":"object","properties":{"l":{"type":"array","items":{"type":"object","properties":{"x":{"type":"number"}},"additionalProperties":false}}},"additionalProperties":false}`,
		},
		{
			"bounds", `{"type":"object","$schema":"s","properties":{"n":{"type":"integer","minimum":1,"description":"N"},"s":{"type":"string","maxLength":3,"pattern":"x","format":"date"},"f":{"type":"string","format":"phone"},"l":{"type":"array","minItems":1,"maxItems":3,"items":{"const":1}},"m":{"type":"array","minItems":2,"items":{"type":"null"}}},"minProperties":1}`,
			`{"type":"object","properties":{"n":{"type":"integer","description":"N"},"s":{"type":"string","format":"date"},"f":{"type":"string"},"l":{"type":"array","minItems":1,"items":{"const":1}},"m":{"type":"array","items":{"type":"null"}}},"additionalProperties":false}`,
		},
		{
			"definitions and unions", `{"type":"object","properties":{"p":{"$ref":"#/$defs/p","description":"gone"},"u":{"oneOf":[{"type":"string"},{"$ref":"#/$defs/p"}]}},"$defs":{"p":{"type":["object","null"],"properties":{"x":{"type":"string"}}}}}`,
			`{"type":"object","properties":{"p":{"$ref":"#/$defs/p"},"u":{"anyOf":[{"type":"string"},{"$ref":"#/$defs/p"}]}},"$defs":{"p":{"type":["object","null"],"properties":{"x":{"type":"string"}},"additionalProperties":false}},"additionalProperties":false}`,
		},
		{
			"nothing in it", `{"type":"object","properties":{},"additionalProperties":false}`, `{"type":"object","properties":{},"additionalProperties":false}`,
		},
		{
			"a property of a keyword's name", `{"type":"object","properties":{"$ref":{"type":"string"},"allOf":{"type":"string"}}}`,
			`{"type":"object","properties":{"$ref":{"type":"string"},"allOf":{"type":"string"}},"additionalProperties":false}`,
		},
		{"a list", `{"type":"array","items":{"type":"string"}}`, ""},
		{"anything", `true`, ""},
		{"any object", `{"type":"object"}`, ""},
		{"any object inside", anything, ""},
		{"any value inside", `{"type":"object","properties":{"a":{}}}`, ""},
		{"any value inside, boldly", `{"type":"object","properties":{"a":true}}`, ""},
		{"any list inside", `{"type":"object","properties":{"a":{"type":"array"}}}`, ""},
		{"any of all types", `{"type":"object","properties":{"a":{"type":["string","object"]}}}`, ""},
		{"a dictionary", `{"type":"object","properties":{"a":{"type":"object","additionalProperties":{"type":"string"}}}}`, ""},
		{"more properties on purpose", `{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":true}`, ""},
		{"patterns", `{"type":"object","properties":{"a":{"type":"string"}},"patternProperties":{"x":{"type":"string"}}}`, ""},
		{"recursive", `{"type":"object","properties":{"a":{"$ref":"#/$defs/n"}},"$defs":{"n":{"type":"object","properties":{"n":{"$ref":"#/$defs/n"}}}}}`, ""},
		{"of itself", `{"type":"object","properties":{"a":{"$ref":"#"}}}`, ""},
		{"elsewhere", `{"type":"object","properties":{"a":{"$ref":"https://example.com/s"}}}`, ""},
		{"all of", `{"type":"object","properties":{"a":{"type":"string","allOf":[]}}}`, ""},
		{"tuples", `{"type":"object","properties":{"a":{"type":"array","items":{"type":"string"},"prefixItems":[]}}}`, ""},
		{"an object as a constant", `{"type":"object","properties":{"a":{"const":{}}}}`, ""},
		{"both unions", `{"type":"object","properties":{"a":{"anyOf":[{"type":"string"}],"oneOf":[{"type":"string"}]}}}`, ""},
		{"too many optional", `{"type":"object","properties":{` + many(25) + `"z":{"type":"string"}},"required":["z"]}`, ""},
		{"too deep", `{"type":"object","properties":{"a":` + strings.Repeat(`{"type":"array","items":`, 80) + `{"type":"string"}` + strings.Repeat(`}`, 80) + `}}`, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := held(t, defaults(), tt.schema); got != tt.want {
				t.Errorf("held to %s\nwant    %s", got, tt.want)
			}
		})
	}
}

func many(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(`"p` + strings.Repeat("x", i) + `":{"type":"string"},`)
	}
	return b.String()
}

func TestAModelThatCannotBeForcedIsTold(t *testing.T) {
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
			if got := held(t, c, tt.schema); got != "" {
				t.Errorf("held to %s", got)
			}
		})
	}
}

// FuzzSchema looks for schemas that stop being JSON on their way.
func FuzzSchema(f *testing.F) {
	for _, s := range []string{plans, anything, `{"type":"object","properties":{"a":{"$ref":"#/$defs/a"}},"$defs":{"a":{"type":"string"}}}`} {
		f.Add(s)
	}
	c := defaults()
	f.Fuzz(func(t *testing.T, schema string) {
		if !json.Valid([]byte(schema)) {
			return
		}
		req := *question
		req.Schema = &engine.ReplySchema{Schema: json.RawMessage(schema)}
		sent(t, c, engine.ModelSettings{}, &req, nil) // the server reads JSON
	})
}
