package genai

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"strings"

	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/providers/modelhttp"
)

// gather puts a reply together from its pieces; a whole body is one piece.
type gather struct {
	modelhttp.Stream
	request *model.Request

	seen    bool // a piece came
	id      string
	model   string
	usage   model.Tokens
	finish  string
	why     string // what the API says of the finish
	blocked string // the prompt was
	text    strings.Builder
	tools   []model.ToolCall
}

// stream reads an event stream to its end.
func (g *gather) stream(ctx context.Context, from io.Reader) error {
	for event, err := range events(from) {
		if err == nil {
			err = ctx.Err()
		}
		if err == nil {
			err = g.add(event)
		}
		if err != nil {
			return err
		}
	}
	return ctx.Err()
}

// add takes one piece. Only the first candidate counts: no more was asked for.
func (g *gather) add(raw json.RawMessage) error {
	g.seen = true
	var a *answer
	if err := json.Unmarshal(raw, &a); err != nil || a == nil {
		return modelhttp.Bad("the server's answer cannot be read: %s", modelhttp.ErrorBody(raw))
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
		g.blocked, g.why = f.BlockReason, f.BlockReasonMessage
	}
	for _, c := range a.Candidates {
		if c.Index != 0 {
			continue
		}
		if c.FinishReason != "" {
			g.finish, g.why = c.FinishReason, c.FinishMessage
		}
		if err := g.parts(c.Content.Parts); err != nil {
			return err
		}
	}
	return nil
}

// parts takes what one piece says. Calls come whole; what is neither text nor
// call (images, the API's own tools) was not asked for.
func (g *gather) parts(parts []part) error {
	var out model.Delta
	for _, p := range parts {
		switch {
		case p.FunctionCall != nil:
			if err := g.call(p); err != nil {
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
		g.Arrived()
	}
	g.Show(out)
	return nil
}

func (g *gather) call(p part) (err error) {
	f := p.FunctionCall
	c := model.ToolCall{ID: f.ID, Name: f.Name, Args: f.Args}
	if p.ThoughtSignature != "" {
		o, err := json.Marshal(opaque{p.ThoughtSignature})
		if err != nil {
			return modelhttp.Bad("the signature of a tool call cannot be kept: %s", err)
		}
		c.Opaque = o
	}
	g.tools, err = modelhttp.AddCall(g.tools, c)
	return err
}

// said says that something came that may be a reply.
func (g *gather) said() bool { return g.text.Len() > 0 || len(g.tools) > 0 }

// events reads the data of an event stream, one event at a time. Comments and
// fields other than data say nothing here, and [DONE] is no event. An event
// that the end of the stream cut off counts if it is whole JSON all the same.
func events(from io.Reader) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		lines := bufio.NewReader(from)
		var data []byte
		for {
			line, err := lines.ReadBytes('\n')
			if err != nil && !errors.Is(err, io.EOF) {
				yield(nil, err)
				return
			}
			ended := err != nil
			line = bytes.TrimRight(line, "\r\n")
			if more, ok := bytes.CutPrefix(line, []byte("data:")); ok {
				data = append(append(data, bytes.TrimPrefix(more, []byte(" "))...), '\n')
			}
			whole := len(line) == 0
			if ended {
				whole = json.Valid(data)
			}
			if whole && len(data) > 0 && !isDone(data) && !yield(data, nil) {
				return
			}
			if len(line) == 0 {
				data = nil
			}
			if ended {
				return
			}
		}
	}
}

func isDone(data []byte) bool { return string(bytes.TrimSpace(data)) == "[DONE]" }

// list is a body's pieces: the body itself, or the items of the list that it is.
func list(body []byte) ([]json.RawMessage, error) {
	if !bytes.HasPrefix(bytes.TrimSpace(body), []byte("[")) {
		return []json.RawMessage{body}, nil
	}
	var out []json.RawMessage
	if err := json.Unmarshal(body, &out); err != nil || len(out) == 0 {
		return nil, modelhttp.Bad("the server's answer is a list, but not of replies: %.100s", body)
	}
	return out, nil
}
