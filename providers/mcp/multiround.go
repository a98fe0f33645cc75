package mcp

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"path/filepath"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/pexctl/pex/engine/model"
)

// Limits of a call that a server answers with requests (2026-07-28).
const (
	maxRounds = 10 // times the call is sent again
	maxBusy   = 3  // of those, without a request: the server is busy
)

// multiRound sends a request until the server replies with a result instead of requests. It answers the requests one at
// a time, sorted by name, so that a repeated call asks in the same order. The library would ask all at once.
func (s *session) multiRound(ctx context.Context, send func(sdk.InputResponseMap, string) (sdk.InputRequestMap, string, error)) error {
	var answers sdk.InputResponseMap
	state, busy := "", 0
	for range maxRounds {
		requests, next, err := send(answers, state)
		switch {
		case err != nil:
			return s.callError(ctx, err)
		case requests == nil:
			return nil
		case len(requests) == 0:
			busy++
		}
		if busy >= maxBusy {
			return errors.New("the server is busy; try again later, or continue without it")
		}
		if answers, err = s.answers(ctx, requests); err != nil {
			return err
		}
		state = next
	}
	return fmt.Errorf("the server answered the call with requests %d times in a row; continue without it", maxRounds)
}

// answers answers all requests of a round.
func (s *session) answers(ctx context.Context, requests sdk.InputRequestMap) (sdk.InputResponseMap, error) {
	out := sdk.InputResponseMap{}
	for _, name := range slices.Sorted(maps.Keys(requests)) {
		answer, err := s.answer(ctx, requests[name])
		switch {
		case ctx.Err() != nil:
			return nil, fmt.Errorf("the call was stopped: %w", ctx.Err())
		case err != nil:
			return nil, fmt.Errorf("a request from the server cannot be answered: %w", err)
		}
		out[name] = answer
	}
	return out, nil
}

// answer answers one request if the settings allow it.
func (s *session) answer(ctx context.Context, request sdk.InputRequest) (sdk.InputResponse, error) {
	config := s.manager.server.config
	switch p := request.(type) {
	case *sdk.ElicitParams:
		if !config.Elicitation {
			return nil, errors.New("the server may not ask the user: elicitation is false")
		}
		return s.elicit(ctx, &sdk.ElicitRequest{Session: s.client, Params: p})
	case *sdk.CreateMessageWithToolsParams:
		if config.Sampling == nil {
			return nil, errors.New("the server may not call an llm: sampling is not set")
		}
		plain, err := plainMessages(p)
		if err != nil {
			return nil, err
		}
		return s.sample(ctx, &sdk.CreateMessageRequest{Session: s.client, Params: plain})
	case *sdk.ListRootsParams:
		roots, err := s.manager.server.rootList()
		return &sdk.ListRootsResult{Roots: append([]*sdk.Root{}, roots...)}, err
	}
	return nil, fmt.Errorf("unsupported request %T", request)
}

// plainMessages converts a sampling request; each message must have one part.
func plainMessages(p *sdk.CreateMessageWithToolsParams) (*sdk.CreateMessageParams, error) {
	out := &sdk.CreateMessageParams{MaxTokens: p.MaxTokens, SystemPrompt: p.SystemPrompt}
	for _, m := range p.Messages {
		if m == nil || len(m.Content) != 1 {
			return nil, errors.New("only messages with a single text can be passed to the llm")
		}
		out.Messages = append(out.Messages, &sdk.SamplingMessage{Role: m.Role, Content: m.Content[0]})
	}
	return out, nil
}

// errMalformed is the reply to a message on which the library panics.
var errMalformed = &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "the message is malformed"}

// recoverPanics turns panics of the library on malformed messages, such as null for an
// object, into errors: a server must not crash the program.
func recoverPanics(malformed error) sdk.Middleware {
	return func(next sdk.MethodHandler) sdk.MethodHandler {
		return func(ctx context.Context, method string, req sdk.Request) (res sdk.Result, err error) {
			defer func() {
				if recover() != nil {
					res, err = nil, malformed
				}
			}()
			return next(ctx, method, req)
		}
	}
}

// rootList returns the roots for the server. Each must still be an allowed folder.
func (t *server) rootList() ([]*sdk.Root, error) {
	var out []*sdk.Root
	for i, dir := range t.roots {
		tree, err := dir.Open()
		if err != nil {
			return nil, err
		}
		tree.Close()
		at := url.URL{Scheme: "file", Path: filepath.ToSlash(dir.Dir())}
		out = append(out, &sdk.Root{URI: at.String(), Name: t.config.Roots[i]})
	}
	return out, nil
}

// sample lets the server use the LLM of its settings.
func (s *session) sample(ctx context.Context, req *sdk.CreateMessageRequest) (*sdk.CreateMessageResult, error) {
	u, err := s.calls.attribute(ctx)
	switch {
	case err != nil:
		return nil, err
	case u.call.Sample == nil:
		return nil, errors.New("this call may not call an llm")
	}
	messages, err := conversation(req.Params)
	if err != nil {
		return nil, err
	}
	ctx, stop := u.joinContext(ctx)
	defer stop()
	reply, err := u.call.Sample(ctx, messages, int(min(req.Params.MaxTokens, 1<<30)))
	if err != nil {
		return nil, err
	}
	return &sdk.CreateMessageResult{
		Content: &sdk.TextContent{Text: reply.Text}, Model: reply.Model, Role: "assistant", StopReason: stopReason(reply.Stop),
	}, nil
}

// conversation converts the server's messages.
func conversation(p *sdk.CreateMessageParams) ([]model.Message, error) {
	var out []model.Message
	if p.SystemPrompt != "" {
		out = append(out, model.Message{Role: model.System, Text: model.Text{p.SystemPrompt}})
	}
	for _, m := range p.Messages {
		text, ok := m.Content.(*sdk.TextContent)
		if !ok {
			return nil, errors.New("only text can be passed to the llm")
		}
		role := model.User
		if m.Role == "assistant" {
			role = model.Assistant
		}
		out = append(out, model.Message{Role: role, Text: model.Text{text.Text}})
	}
	if len(p.Messages) == 0 {
		return nil, fmt.Errorf("the sampling request has no messages")
	}
	return out, nil
}

// stopReason converts a stop reason to the protocol's name.
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
