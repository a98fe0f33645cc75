package model_test

import (
	"context"
	"fmt"

	"github.com/pexctl/pex/engine/model"
)

// echo is a model that repeats the last message.
type echo struct{}

var _ model.Model = echo{}

// Generate implements model.Model.
func (echo) Generate(ctx context.Context, req *model.Request, stream func(model.Delta)) (*model.Reply, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("echo: %w", err)
	}
	if len(req.Messages) == 0 {
		return nil, &model.Error{Kind: model.BadRequest, Message: "there are no messages"}
	}
	text := req.Messages[len(req.Messages)-1].Text.String()
	if stream != nil {
		stream(model.Delta{Text: text})
	}
	return &model.Reply{Text: text, Stop: model.EndTurn, Usage: model.Tokens{Input: 2, Output: 2}}, nil
}

func ExampleModel() {
	question := model.Message{Role: model.User, Text: model.Text{"Is anybody there?"}}
	reply, err := echo{}.Generate(context.Background(), &model.Request{Messages: []model.Message{question}}, nil)
	fmt.Println(reply.Text, reply.Usage.Total(), err)

	_, err = echo{}.Generate(context.Background(), &model.Request{}, nil)
	fmt.Println(err, model.AsError(err).Retryable())
	// Output:
	// Is anybody there? 4 <nil>
	// bad_request: there are no messages false
}
