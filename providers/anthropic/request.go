package anthropic

import (
	"cmp"
	"encoding/json"
	"fmt"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/param"
	"github.com/pexctl/pex/engine/model"
)

// defaultOutput is how many tokens a reply may have where nobody says: the API
// wants a number. What a model thinks counts too.
const defaultOutput = 16384

// ask is one request: what is sent, and what reading the reply needs of it.
type ask struct {
	params  sdk.MessageNewParams
	request *model.Request
	model   string
	prefix  string // digest of what is sent
	forced  string // the tool that stands for a reply of a schema; "" = none
}

// ask writes a request in the SDK's terms. What is unset is not sent.
func (m *chatModel) ask(req *model.Request) (*ask, error) {
	a := &ask{request: req, model: cmp.Or(req.Params.Model, m.name)}
	p := &a.params
	p.Model, p.StopSequences = a.model, req.Params.Stop
	p.OutputConfig.Effort = sdk.OutputConfigEffort(m.config.Effort)
	think, err := m.thinking(req)
	if err != nil {
		return nil, err
	}
	if err := a.tools(req); err != nil {
		return nil, err
	}
	order, err := m.format(a, think)
	if err != nil {
		return nil, err
	}
	told := a.tell(order, think.carried)
	if think.budget > 0 && told.gap {
		think.budget = 0
		told = a.tell(order, false)
	}
	a.prefix = told.sum()
	think.write(p)
	if !think.samples() {
		p.Temperature, p.TopP = optional(req.Params.Temperature), optional(req.Params.TopP)
	}
	if m.config.Cache {
		a.cache(m.config.CacheTTL)
	}
	if len(m.config.ExtraBody) > 0 {
		p.SetExtraFields(m.config.ExtraBody)
	}
	return a, nil
}

func optional(v *float64) param.Opt[float64] {
	if v == nil {
		return param.Opt[float64]{}
	}
	return param.NewOpt(*v)
}

// tools writes the tools that the model may call.
func (a *ask) tools(req *model.Request) error {
	for _, t := range req.Tools {
		input, err := inputSchema(t.Input)
		if err != nil {
			return fmt.Errorf("input schema of tool %s: %w", t.Name, err)
		}
		tool := &sdk.ToolParam{Name: t.Name, InputSchema: input}
		if t.Description != "" {
			tool.Description = param.NewOpt(t.Description)
		}
		a.params.Tools = append(a.params.Tools, sdk.ToolUnionParam{OfTool: tool})
	}
	// Several calls in one reply are the API's default.
	if len(req.Tools) > 0 && !req.ParallelTools {
		a.params.ToolChoice.OfAuto = &sdk.ToolChoiceAutoParam{DisableParallelToolUse: param.NewOpt(true)}
	}
	return nil
}

// inputSchema is a tool's schema as it stands, with the type that the API wants
// to read at its top.
func inputSchema(schema json.RawMessage) (sdk.ToolInputSchemaParam, error) {
	var fields map[string]json.RawMessage
	if len(schema) > 0 {
		if err := json.Unmarshal(schema, &fields); err != nil {
			return sdk.ToolInputSchemaParam{}, err
		}
	}
	switch {
	case len(fields) == 0:
		schema = json.RawMessage(`{"type":"object"}`)
	case fields["type"] == nil:
		fields["type"] = json.RawMessage(`"object"`)
		var err error
		if schema, err = json.Marshal(fields); err != nil {
			return sdk.ToolInputSchemaParam{}, err
		}
	}
	return param.Override[sdk.ToolInputSchemaParam](schema), nil
}

// cache marks up to where the server is to keep what it has read.
func (a *ask) cache(ttl string) {
	mark := sdk.NewCacheControlEphemeralParam()
	mark.TTL = sdk.CacheControlEphemeralTTL(ttl)
	p := &a.params
	if n := len(p.System); n > 0 {
		p.System[n-1].CacheControl = mark
	}
	n := len(p.Tools)
	if n == 0 {
		return
	}
	p.Tools[n-1].OfTool.CacheControl = mark
	last := p.Messages[len(p.Messages)-1].Content
	switch block := last[len(last)-1]; {
	case block.OfText != nil:
		block.OfText.CacheControl = mark
	case block.OfToolResult != nil:
		block.OfToolResult.CacheControl = mark
	}
}
