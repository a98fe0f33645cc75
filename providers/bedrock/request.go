package bedrock

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime/document"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime/types"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/orderedjson"
)

// writer writes one request for the SDK. Unset values are not sent.
type writer struct {
	config *Config
	id     string // of the requested model
	base   string // identifies what the model supports
	req    *model.Request
	in     *bedrockruntime.ConverseInput

	answer          string // name of the tool whose arguments are the reply; "" = none
	missingThinking bool   // the last calls lack the thinking that led to them
	thinking        any    // value of the field thinking; nil = not sent
	fixedBudget     bool   // thinking has a fixed budget
}

func (m *chatModel) write(req *model.Request) (*writer, error) {
	id := cmp.Or(req.Params.Model, m.name)
	if id == "" {
		return nil, errors.New("no model: set the llm's model to a Bedrock model id, inference profile or ARN")
	}
	w := &writer{config: &m.config, id: id, base: m.config.base(id), req: req, in: &bedrockruntime.ConverseInput{ModelId: &id}}
	w.conversation()
	if len(w.in.Messages) == 0 {
		return nil, errors.New("no message of the request has text")
	}
	w.think()
	for _, part := range []func() error{w.tools, w.replySchema, w.additional} {
		if err := part(); err != nil {
			return nil, err
		}
	}
	w.sampling()
	w.options()
	w.cache()
	return w, nil
}

// sampling writes the parameters of a call. A temperature of 0 is sent.
func (w *writer) sampling() {
	p := w.req.Params
	var c types.InferenceConfiguration
	if p.MaxOutputTokens > 0 {
		n := int32(min(p.MaxOutputTokens, math.MaxInt32))
		c.MaxTokens = &n
	}
	if !w.fixedBudget { // Claude sets them itself when thinking
		c.Temperature, c.TopP = float32Of(p.Temperature), float32Of(p.TopP)
	}
	c.StopSequences = p.Stop
	if c.MaxTokens != nil || c.Temperature != nil || c.TopP != nil || len(c.StopSequences) > 0 {
		w.in.InferenceConfig = &c
	}
}

func float32Of(v *float64) *float32 {
	if v == nil {
		return nil
	}
	f := float32(*v)
	return &f
}

// options writes the author's settings of the LLM.
func (w *writer) options() {
	c, in := w.config, w.in
	if c.ReasoningEffort != "" {
		w.output().Effort = &c.ReasoningEffort
	}
	if c.Guardrail != "" {
		in.GuardrailConfig = &types.GuardrailConfiguration{GuardrailIdentifier: &c.Guardrail, GuardrailVersion: &c.GuardrailVersion}
	}
	if c.Latency != "" {
		in.PerformanceConfig = &types.PerformanceConfiguration{Latency: types.PerformanceConfigLatency(c.Latency)}
	}
	if c.ServiceTier != "" {
		in.ServiceTier = &types.ServiceTier{Type: types.ServiceTierType(c.ServiceTier)}
	}
}

func (w *writer) output() *types.OutputConfig {
	if w.in.OutputConfig == nil {
		w.in.OutputConfig = &types.OutputConfig{}
	}
	return w.in.OutputConfig
}

// tools writes the tools. A conversation with calls must have tools. If none may be called any more, those that were
// called are declared.
func (w *writer) tools() error {
	var list []types.Tool
	for _, t := range w.req.Tools {
		input, err := argumentsSchema(t.Input)
		if err != nil {
			return fmt.Errorf("input schema of tool %s is not a JSON object: %w", t.Name, err)
		}
		list = append(list, tool(t.Name, t.Description, input))
	}
	if list == nil {
		list = w.calledTools()
	}
	if list != nil {
		w.in.ToolConfig = &types.ToolConfiguration{Tools: list}
	}
	return nil
}

var anyObject = json.RawMessage(`{"type":"object"}`)

// argumentsSchema adds the type object, which Bedrock requires, to a schema without a type.
func argumentsSchema(schema json.RawMessage) (json.RawMessage, error) {
	if len(schema) == 0 {
		return anyObject, nil
	}
	n, ok := orderedjson.Parse(schema)
	if !ok {
		return nil, errors.New("not a JSON object")
	}
	if n.Get("type") != nil {
		return schema, nil
	}
	return append(n, orderedjson.Member{Name: "type", Value: json.RawMessage(`"object"`)}).JSON(), nil
}

func tool(name, description string, input json.RawMessage) types.Tool {
	spec := types.ToolSpecification{Name: &name, InputSchema: &types.ToolInputSchemaMemberJson{Value: raw(input)}}
	if description != "" {
		spec.Description = &description
	}
	return &types.ToolMemberToolSpec{Value: spec}
}

// calledTools returns the tools called in the conversation.
func (w *writer) calledTools() []types.Tool {
	var list []types.Tool
	names := map[string]bool{}
	for _, m := range w.req.Messages {
		for _, c := range m.Calls {
			if !names[c.Name] {
				names[c.Name] = true
				list = append(list, tool(c.Name, "No longer available: do not call it.", anyObject))
			}
		}
	}
	return list
}

// streamInput returns the same request for ConverseStream.
func (w *writer) streamInput() *bedrockruntime.ConverseStreamInput {
	in := w.in
	out := &bedrockruntime.ConverseStreamInput{
		ModelId: in.ModelId, Messages: in.Messages, System: in.System, ToolConfig: in.ToolConfig,
		InferenceConfig: in.InferenceConfig, OutputConfig: in.OutputConfig,
		AdditionalModelRequestFields: in.AdditionalModelRequestFields,
		PerformanceConfig:            in.PerformanceConfig, ServiceTier: in.ServiceTier,
	}
	if g := in.GuardrailConfig; g != nil {
		out.GuardrailConfig = &types.GuardrailStreamConfiguration{GuardrailIdentifier: g.GuardrailIdentifier, GuardrailVersion: g.GuardrailVersion}
	}
	return out
}

// verbatim is a JSON value that is sent unchanged. The SDK would sort its keys and convert its numbers.
type verbatim struct {
	document.Interface
	text json.RawMessage
}

func raw(text json.RawMessage) document.Interface {
	return verbatim{document.NewLazyDocument(nil), text}
}

// MarshalSmithyDocument implements document.Interface.
func (v verbatim) MarshalSmithyDocument() ([]byte, error) { return v.text, nil }

// cache marks the parts that the next request is likely to start with: the tools (only Claude caches them), the system
// prompt and, if there are tools and so more turns to come, all messages.
func (w *writer) cache() {
	if !w.config.Cache {
		return
	}
	point := types.CachePointBlock{Type: types.CachePointTypeDefault, Ttl: types.CacheTTL(w.config.CacheTTL)}
	in := w.in
	if len(w.req.Tools) > 0 && isClaude(w.base) {
		in.ToolConfig.Tools = append(in.ToolConfig.Tools, &types.ToolMemberCachePoint{Value: point})
	}
	if len(in.System) > 0 {
		in.System = append(in.System, &types.SystemContentBlockMemberCachePoint{Value: point})
	}
	if last := len(in.Messages) - 1; len(w.req.Tools) > 0 {
		in.Messages[last].Content = append(in.Messages[last].Content, &types.ContentBlockMemberCachePoint{Value: point})
	}
}
