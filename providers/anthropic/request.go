package anthropic

import (
	"cmp"
	"encoding/json"
	"fmt"

	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/providers/modelhttp"
)

// defaultOutput is the default limit of output tokens, thinking included: the API requires
// a limit.
const defaultOutput = 16384

// prepared is a request, and what reading the reply requires of it.
type prepared struct {
	body    messageRequest
	encoded []byte // the body as JSON
	request *model.Request
	digest  string // of the conversation
	forced  string // the tool whose arguments are the reply; "" = none
}

// prepare converts a request to the protocol.
func (m *chatModel) prepare(req *model.Request, streamed bool) (*prepared, error) {
	p := &prepared{request: req, body: messageRequest{
		Model: cmp.Or(req.Params.Model, m.name), StopSequences: req.Params.Stop, Stream: streamed,
	}}
	if m.config.Effort != "" {
		p.body.OutputConfig = &outputConfig{Effort: m.config.Effort}
	}
	think, err := m.thinking(req)
	if err != nil {
		return nil, err
	}
	if err := p.addTools(req); err != nil {
		return nil, err
	}
	instruction, err := m.setFormat(p, think)
	if err != nil {
		return nil, err
	}
	t := p.writeTranscript(instruction, think.restored)
	if think.budget > 0 && t.missingThinking {
		think.budget = 0
		t = p.writeTranscript(instruction, false)
	}
	p.digest = t.sum()
	think.write(&p.body)
	if !think.fixesSampling() {
		p.body.Temperature, p.body.TopP = req.Params.Temperature, req.Params.TopP
	}
	if m.config.Cache {
		p.body.markCache(m.config.CacheTTL)
	}
	p.encoded, err = modelhttp.EncodeBody(&p.body, m.config.ExtraBody)
	return p, err
}

// addTools adds the tools that the model may call.
func (p *prepared) addTools(req *model.Request) error {
	for _, t := range req.Tools {
		schema, err := inputSchema(t.Input)
		if err != nil {
			return fmt.Errorf("input schema of tool %s: %w", t.Name, err)
		}
		p.body.Tools = append(p.body.Tools, toolParam{Name: t.Name, Description: t.Description, InputSchema: schema})
	}
	// Several calls in one reply are the API's default.
	if len(req.Tools) > 0 && !req.ParallelTools {
		p.body.ToolChoice = &toolChoice{Type: "auto", DisableParallelToolUse: true}
	}
	return nil
}

// inputSchema returns a tool's schema with a type at its root, which the API requires.
func inputSchema(schema json.RawMessage) (json.RawMessage, error) {
	var fields map[string]json.RawMessage
	if len(schema) > 0 {
		if err := json.Unmarshal(schema, &fields); err != nil {
			return nil, err
		}
	}
	switch {
	case len(fields) == 0:
		return json.RawMessage(`{"type":"object"}`), nil
	case fields["type"] == nil:
		fields["type"] = json.RawMessage(`"object"`)
		return json.Marshal(fields)
	}
	return schema, nil
}

// markCache sets the cache breakpoints: after the system prompt, and if there are tools
// also after them and after the conversation.
func (r *messageRequest) markCache(ttl string) {
	mark := &cacheControl{Type: "ephemeral", TTL: ttl}
	if n := len(r.System); n > 0 {
		r.System[n-1].CacheControl = mark
	}
	n := len(r.Tools)
	if n == 0 {
		return
	}
	r.Tools[n-1].CacheControl = mark
	last := r.Messages[len(r.Messages)-1].Content
	if block := last[len(last)-1]; block.Type == typeText || block.Type == typeResult {
		block.CacheControl = mark
	}
}
