package openai

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/openai/openai-go/v3/packages/ssestream"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/internal/wire"
)

// filtered is the reply of a server whose filter let no prompt through to the
// model, which Azure says by an error; nil where err says something else. The
// filter's words are its text: no model said any.
func filtered(ctx context.Context, req *model.Request, err error) *model.Reply {
	var sent *wire.Error
	var event *ssestream.StreamError
	var body []byte
	switch {
	case ctx.Err() != nil:
	case errors.As(err, &sent):
		body = sent.Body
	case errors.As(err, &event):
		body = event.Event.Data
	}
	var shape struct {
		Error struct {
			Code       any
			InnerError struct{ Code string }
		}
	}
	if json.Unmarshal(body, &shape) != nil ||
		shape.Error.Code != "content_filter" && shape.Error.InnerError.Code != "ResponsibleAIPolicyViolation" {
		return nil
	}
	return &model.Reply{
		Text: wire.Explain(body), Stop: model.ContentFiltered,
		Usage: model.Tokens{Input: req.Estimate()}, Estimated: true,
	}
}
