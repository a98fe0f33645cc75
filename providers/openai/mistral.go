package openai

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"maps"
	"math/big"
	"net/url"
	"slices"
	"strconv"

	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/text"
	"github.com/pexctl/pex/internal/httpclient"
	"github.com/pexctl/pex/providers/modelhttp"
)

// Mistral is the provider `mistral`.
var Mistral = component.New[MistralConfig, model.Settings, model.Model](
	"mistral",
	"Mistral's platform, or compatible servers with base_url. The key is read from MISTRAL_API_KEY, unless api_key_env names another variable.",
	func() MistralConfig { return MistralConfig{StructuredOutput: nativeSchema} },
	func(c *MistralConfig, s model.Settings) (model.Model, error) { return NewMistral(c, s, nil) },
)

// MistralConfig has the `options:` of mistral.
type MistralConfig struct {
	ReasoningEffort  string                        `yaml:"reasoning_effort" doc:"Effort of a reasoning model, in its own values. Default: the model's."`
	SafePrompt       bool                          `yaml:"safe_prompt" doc:"Let the platform prepend its safety prompt."`
	StructuredOutput string                        `yaml:"structured_output" enum:"json_schema|json_object|none" doc:"How to request JSON that matches a schema: json_schema (default), json_object (JSON mode without the schema), none."`
	Headers          map[string]component.Template `yaml:"headers" vars:"env" doc:"Additional request headers."`
	ExtraBody        map[string]any                `yaml:"extra_body" doc:"Additional fields of each request body; they replace fields of the same name. The platform rejects unknown fields."`
}

// KeyVariables implements model.Keyed.
func (*MistralConfig) KeyVariables() model.KeyVariables {
	return model.KeyVariables{Names: []string{"MISTRAL_API_KEY"}, Required: true}
}

const mistralBaseURL = "https://api.mistral.ai/v1"

var _ component.Checker[model.Settings] = (*MistralConfig)(nil)

// Check implements component.Checker.
func (c *MistralConfig) Check(s model.Settings) component.Faults {
	_, out := mistralAddress(s.BaseURL)
	out = append(out, modelhttp.CheckModel(s)...)
	return append(out, modelhttp.CheckHeaders(c.Headers)...)
}

func mistralAddress(base string) (*url.URL, component.Faults) {
	return modelhttp.AddressWithoutQuery(cmp.Or(base, mistralBaseURL), mistralBaseURL)
}

// NewMistral returns a model of Mistral's platform. change, if not nil, adapts the
// transport's settings (tests).
func NewMistral(c *MistralConfig, s model.Settings, change func(*httpclient.Settings)) (model.Model, error) {
	if err := c.Check(s).Err(); err != nil {
		return nil, err
	}
	u, _ := mistralAddress(s.BaseURL)
	d := dialect{base: withVersion(u), legacy: true, violations: mistralViolations}
	if d.base == mistralBaseURL {
		d.missingKey = noKey("MISTRAL_API_KEY")
	}
	d.adapt = func(r *chatRequest) { r.adaptToMistral(c) }
	return connect(Config{
		ReasoningEffort: c.ReasoningEffort, StructuredOutput: c.StructuredOutput,
		Headers: c.Headers, ExtraBody: c.ExtraBody,
	}, s, d, change)
}

// adaptToMistral changes a request to what Mistral's platform accepts. The platform has
// another name for the seed, and requires tool call ids of nine characters, a schema for
// every tool, and an assistant message between a tool's result and the next user message.
func (r *chatRequest) adaptToMistral(c *MistralConfig) {
	r.SafePrompt = c.SafePrompt
	r.RandomSeed, r.Seed = r.Seed, nil
	for i := range r.Tools {
		if f := &r.Tools[i].Function; f.Parameters == nil {
			f.Parameters = json.RawMessage(`{"type":"object","properties":{}}`)
		}
	}
	messages := make([]chatMessage, 0, len(r.Messages))
	for i, m := range r.Messages {
		if i > 0 && r.Messages[i-1].Role == model.ToolRole && m.Role != model.ToolRole && m.Role != model.Assistant {
			ok := "OK."
			messages = append(messages, chatMessage{Role: model.Assistant, Content: &ok})
		}
		messages = append(messages, m.withMistralIDs())
	}
	r.Messages = messages
}

// withMistralIDs returns a message whose tool call ids the platform accepts.
func (m chatMessage) withMistralIDs() chatMessage {
	if m.ToolCallID != nil {
		id := nineCharacters(*m.ToolCallID)
		m.ToolCallID = &id
	}
	for i := range m.ToolCalls {
		m.ToolCalls[i].ID = nineCharacters(m.ToolCalls[i].ID)
	}
	return m
}

var mistralID = text.Regexp(`^[a-zA-Z0-9]{9}$`)

// nineCharacters returns a tool call id that the platform accepts: the id itself if it is
// one of the platform's, and otherwise a digest, which is the same for a call and its
// result.
func nineCharacters(id string) string {
	if mistralID().MatchString(id) {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	digits := new(big.Int).SetBytes(sum[:]).Text(62)
	return digits[len(digits)-9:]
}

var _ model.SchemaEnforcer = (*MistralConfig)(nil)

// EnforcingOutput implements model.SchemaEnforcer.
func (c *MistralConfig) EnforcingOutput() string { return enforcing(c.StructuredOutput) }

var _ model.SchemaHolder = (*MistralConfig)(nil)

// UnenforcedKeywords implements model.SchemaHolder. It is unknown what a server at another
// base_url does with a schema.
func (c *MistralConfig) UnenforcedKeywords(s model.Settings, schema json.RawMessage) component.Faults {
	if c.StructuredOutput != nativeSchema || s.BaseURL != "" {
		return nil
	}
	return mistralViolations(schema)
}

// mistralViolations reports where a schema violates the only known rule of Mistral's strict
// mode: every object declares whether it allows additional properties.
//
// The rule is that of rec_strict_json_schema in client-python; docs.mistral.ai has none
// under custom structured output.
func mistralViolations(schema json.RawMessage) component.Faults {
	var root any
	if json.Unmarshal(schema, &root) != nil {
		return nil
	}
	c := &strictCheck{}
	c.closed("", root)
	return c.faults
}

// closed checks the objects of a schema and its subschemas for additionalProperties.
func (c *strictCheck) closed(at string, v any) {
	s, ok := v.(map[string]any)
	if !ok {
		return
	}
	if open, declared := s["additionalProperties"]; isObject(s) && (!declared || open == true) {
		c.add(at, "the object allows additional properties", "write additionalProperties: false")
	}
	for _, word := range []string{"properties", "$defs", "definitions"} {
		inner, _ := s[word].(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(inner)) {
			c.closed(at+"/"+word+component.Key(name), inner[name])
		}
	}
	for _, word := range []string{"items", "additionalProperties"} {
		c.closed(at+"/"+word, s[word])
	}
	for _, word := range []string{"anyOf", "oneOf", "allOf", "prefixItems"} {
		list, _ := s[word].([]any)
		for i, inner := range list {
			c.closed(at+"/"+word+"/"+strconv.Itoa(i), inner)
		}
	}
}
