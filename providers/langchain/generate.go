package langchain

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/tmc/langchaingo/llms"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/providers/call"
)

// Generate implements engine.Model. Where the client of a backend does not
// stream, a stream is one delta at the end.
func (m *model) Generate(ctx context.Context, req *engine.Request, stream func(engine.Delta)) (*engine.Reply, error) {
	if req.Params.Model == "" {
		named := *req
		named.Params.Model = m.place.model
		req = &named
	}
	if err := m.ready(req); err != nil {
		return nil, err
	}
	asked := req
	if req.Schema != nil && m.config.StructuredOutput != "none" {
		asked = call.AskForJSON(req)
	}
	at := m.place
	at.model = req.Params.Model
	path, err := m.backend.path(at)
	if err != nil {
		return nil, badRequest(err)
	}
	pieces := stream
	if m.backend.event == nil {
		pieces = nil
	}
	started := time.Now()
	out, err := m.calls.Reply(ctx, req, func(ctx context.Context) (*engine.Reply, error) {
		x := &exchange{model: m, req: asked, to: m.base.JoinPath(path), deltas: pieces, started: started}
		text, err := x.ask(ctx)
		if err != nil {
			return nil, err
		}
		return x.reply(req, text), nil
	})
	if err == nil && stream != nil && pieces == nil && out.Text != "" {
		stream(engine.Delta{Text: out.Text})
	}
	return out, err
}

// ready says why a request cannot be put to this backend.
func (m *model) ready(req *engine.Request) error {
	b := m.backend
	switch {
	case len(req.Tools) > 0:
		return badRequest(errors.New("the model is to call tools, and provider langchain has no tool calls: use executor.mode: react_text, or a provider that has them (openai and ollama, by base_url also for servers that speak OpenAI's protocol, anthropic, bedrock, googleai, mistral)"))
	case m.key == "" && b.key != "" && len(m.header) == 0:
		return &engine.ModelError{Kind: engine.AuthError, Message: fmt.Sprintf("no API key for %s: set %s, or name another variable with api_key_env", b.name, b.key)}
	case b.fields.stop == "" && len(req.Params.Stop) > 0:
		return badRequest(fmt.Errorf("the llm sets stop, and backend %s has no field for it: leave stop out", b.name))
	case req.Schema != nil && !json.Valid(req.Schema.Schema):
		return badRequest(fmt.Errorf("reply schema %s is no JSON", req.Schema.Name))
	}
	for _, msg := range req.Messages {
		if msg.Role != engine.System {
			return nil
		}
	}
	return badRequest(errors.New("the model is asked nothing: there is no message but the system prompt"))
}

func badRequest(err error) error {
	return &engine.ModelError{Kind: engine.BadRequest, Message: err.Error(), Err: err}
}

// ask makes one attempt with langchaingo's client, and gives the text of the
// reply.
func (x *exchange) ask(ctx context.Context) (string, error) {
	client, err := x.model.backend.client()
	if err != nil {
		return "", err
	}
	var options []llms.CallOption
	if x.deltas != nil {
		options = append(options, llms.WithStreamingFunc(func(context.Context, []byte) error { return nil }))
	}
	out, err := client.GenerateContent(context.WithValue(ctx, exchangeKey{}, x), x.conversation(), options...)
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case x.fault != nil:
		return "", x.fault
	case err != nil:
		return "", err
	case x.deltas != nil:
		return x.text.String(), nil
	}
	return out.Choices[0].Content, nil // the door has seen that there is one
}

// conversation is what langchaingo's client is given to say.
func (x *exchange) conversation() []llms.MessageContent {
	var out []llms.MessageContent
	for _, m := range turns(x.req.Messages) {
		role := map[string]llms.ChatMessageType{"system": llms.ChatMessageTypeSystem, "assistant": llms.ChatMessageTypeAI, "user": llms.ChatMessageTypeHuman}[m.Role]
		out = append(out, llms.TextParts(role, m.Content))
	}
	return out
}

// turn is a message of a conversation without tools.
type turn struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// turns are messages whose calls and results of tools are put into words. Who
// speaks twice in a row speaks once: the templates of many models want turns.
func turns(messages []engine.Message) []turn {
	var out []turn
	for _, m := range messages {
		role := string(m.Role)
		if m.Role == engine.ToolRole {
			role = "user"
		}
		if last := len(out) - 1; last >= 0 && out[last].Role == role {
			out[last].Content += "\n\n" + call.Spoken(m)
			continue
		}
		out = append(out, turn{role, call.Spoken(m)})
	}
	return out
}
