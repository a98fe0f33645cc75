package genai

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"strings"

	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/providers/modelhttp"
)

// accumulator builds a reply from chunks. A complete body is one chunk.
type accumulator struct {
	modelhttp.Stream
	request *model.Request

	received    bool // at least one chunk has arrived
	id          string
	model       string
	usage       model.Tokens
	finish      string
	explanation string // the API's explanation of finish or blocked
	blocked     string // why the prompt was blocked; "" = it was not
	text        strings.Builder
	tools       []model.ToolCall
}

// stream reads an event stream to its end.
func (g *accumulator) stream(ctx context.Context, from io.Reader) error {
	for event, err := range modelhttp.Events(from) {
		if err == nil {
			err = ctx.Err()
		}
		if err == nil && string(event.Data) != "[DONE]" { // which some gateways add
			err = g.add(event.Data)
		}
		if err != nil {
			return err
		}
	}
	return ctx.Err()
}

// add processes one chunk. Only the first candidate counts, as no others were requested.
func (g *accumulator) add(raw json.RawMessage) error {
	g.received = true
	var a *answer
	if err := json.Unmarshal(raw, &a); err != nil || a == nil {
		return modelhttp.Bad("the server's reply cannot be read: %s", modelhttp.ErrorBody(raw))
	}
	if len(a.Error) > 0 && string(a.Error) != "null" {
		return reported(raw)
	}
	if g.id == "" {
		g.id = a.ResponseID
	}
	if g.model == "" {
		g.model = a.ModelVersion
	}
	if u := tokens(a.UsageMetadata); u.Total() > 0 {
		g.usage = u
	}
	if f := a.PromptFeedback; f.BlockReason != "" {
		g.blocked, g.explanation = f.BlockReason, f.BlockReasonMessage
	}
	for _, c := range a.Candidates {
		if c.Index != 0 {
			continue
		}
		if c.FinishReason != "" {
			g.finish, g.explanation = c.FinishReason, c.FinishMessage
		}
		if err := g.addParts(c.Content.Parts); err != nil {
			return err
		}
	}
	return nil
}

// addParts adds the parts of a chunk. Calls are complete. Other parts, such as images and the API's own tools, were not
// requested.
func (g *accumulator) addParts(parts []part) error {
	var out model.Delta
	for _, p := range parts {
		switch {
		case p.FunctionCall != nil:
			if err := g.addCall(p); err != nil {
				return err
			}
		case p.Thought:
			out.Reasoning += p.Text
		default:
			out.Text += p.Text
		}
	}
	g.text.WriteString(out.Text)
	if g.Deltas == nil {
		return nil
	}
	if err := g.Grow(len(out.Text)); err != nil {
		return err
	}
	if len(g.tools) > 0 {
		g.RecordFirst()
	}
	g.Emit(out)
	return nil
}

func (g *accumulator) addCall(p part) (err error) {
	f := p.FunctionCall
	c := model.ToolCall{ID: f.ID, Name: f.Name, Args: f.Args}
	if p.ThoughtSignature != "" {
		o, err := json.Marshal(opaque{p.ThoughtSignature})
		if err != nil {
			return modelhttp.Bad("the signature of a tool call cannot be stored: %s", err)
		}
		c.Opaque = o
	}
	g.tools, err = modelhttp.AddCall(g.tools, c)
	return err
}

// hasContent reports whether anything arrived that may be a reply.
func (g *accumulator) hasContent() bool { return g.text.Len() > 0 || len(g.tools) > 0 }

// list returns the items of a JSON list, or the body itself if it is not a list.
func list(body []byte) ([]json.RawMessage, error) {
	if !bytes.HasPrefix(bytes.TrimSpace(body), []byte("[")) {
		return []json.RawMessage{body}, nil
	}
	var out []json.RawMessage
	if err := json.Unmarshal(body, &out); err != nil || len(out) == 0 {
		return nil, modelhttp.Bad("the server's reply is a list, but not of chunks: %.100s", body)
	}
	return out, nil
}
