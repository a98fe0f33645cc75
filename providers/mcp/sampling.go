package mcp

import (
	"context"
	"errors"
	"fmt"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/pexctl/pex/engine/model"
)

// sample lets the server ask the llm that its author gave it.
func (s *session) sample(ctx context.Context, req *sdk.CreateMessageRequest) (*sdk.CreateMessageResult, error) {
	u, err := s.calls.of(ctx)
	switch {
	case err != nil:
		return nil, err
	case u.call.Sample == nil:
		return nil, errors.New("this call may not ask an llm")
	}
	messages, err := conversation(req.Params)
	if err != nil {
		return nil, err
	}
	ctx, stop := u.within(ctx)
	defer stop()
	reply, err := u.call.Sample(ctx, messages, int(min(req.Params.MaxTokens, 1<<30)))
	if err != nil {
		return nil, err
	}
	return &sdk.CreateMessageResult{
		Content: &sdk.TextContent{Text: reply.Text}, Model: reply.Model, Role: "assistant", StopReason: stopReason(reply.Stop),
	}, nil
}

// conversation is the server's messages in the engine's words.
func conversation(p *sdk.CreateMessageParams) ([]model.Message, error) {
	var out []model.Message
	if p.SystemPrompt != "" {
		out = append(out, model.Message{Role: model.System, Text: model.Text{p.SystemPrompt}})
	}
	for _, m := range p.Messages {
		text, ok := m.Content.(*sdk.TextContent)
		if !ok {
			return nil, errors.New("only text can be passed on to the llm")
		}
		role := model.User
		if m.Role == "assistant" {
			role = model.Assistant
		}
		out = append(out, model.Message{Role: role, Text: model.Text{text.Text}})
	}
	if len(p.Messages) == 0 {
		return nil, fmt.Errorf("there is no message to answer")
	}
	return out, nil
}

// stopReason is why a model stopped in the protocol's words.
func stopReason(k model.StopReason) string {
	switch k {
	case model.MaxTokens:
		return "maxTokens"
	case model.StopSequence:
		return "stopSequence"
	default:
		return "endTurn"
	}
}
