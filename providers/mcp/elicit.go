package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pexctl/pex/engine/interrupt"
	"github.com/pexctl/pex/engine/tool"
)

// Actions of an elicitation result.
const (
	actionAccept  = "accept"
	actionDecline = "decline"
	actionCancel  = "cancel" // no decision was made
)

// elicit asks a human the server's question.
func (s *session) elicit(ctx context.Context, req *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
	u, err := s.calls.attribute(ctx)
	if errors.Is(err, errAmbiguous) {
		s.calls.broadcast(err.Error())
	}
	if err != nil || u.call.Ask == nil {
		return &sdk.ElicitResult{Action: actionCancel}, nil
	}
	u.askMu.Lock()
	defer u.askMu.Unlock()
	ctx, stop := u.joinContext(ctx)
	defer stop()
	q, read, err := question(req.Params)
	if err != nil {
		return nil, err
	}
	return u.ask(ctx, q, read)
}

// joinContext returns a context that ends with the call or with ctx.
func (u *openCall) joinContext(ctx context.Context) (context.Context, func()) {
	both, cancel := context.WithCancelCause(u.ctx)
	stop := context.AfterFunc(ctx, func() { cancel(context.Cause(ctx)) })
	return both, func() { stop(); cancel(nil) }
}

// ask repeats the question until the answer is valid, up to the engine's limit.
func (u *openCall) ask(ctx context.Context, q interrupt.Question, read func(interrupt.Decision) (map[string]any, error)) (*sdk.ElicitResult, error) {
	for original := q.Question; ; {
		d, err := u.call.Ask(ctx, q)
		switch {
		case errors.Is(err, tool.ErrQuestionAsked):
			return nil, err // the call has ended
		case err != nil:
			return &sdk.ElicitResult{Action: actionCancel}, nil
		case d.Do == "deny":
			return &sdk.ElicitResult{Action: actionDecline}, nil
		}
		content, err := read(d)
		if err == nil {
			return &sdk.ElicitResult{Action: actionAccept, Content: content}, nil
		}
		q.Question = fmt.Sprintf("%s\nInvalid answer: %v.", original, err)
	}
}

// question returns the question to a human, and the function that parses the answer.
func question(p *sdk.ElicitParams) (interrupt.Question, func(interrupt.Decision) (map[string]any, error), error) {
	q := interrupt.Question{Kind: interrupt.Elicitation, Question: strings.ToValidUTF8(p.Message, "\uFFFD")}
	if p.URL != "" {
		args, err := json.Marshal(map[string]string{"url": p.URL})
		q.Args = args
		q.Question = strings.TrimSpace(q.Question+"\nThe server asks you to open "+p.URL) + "\nApprove when you are done."
		return q, urlAnswer, err
	}
	f, err := newForm(p.RequestedSchema)
	if err != nil {
		return q, nil, err
	}
	q.Args = f.schema
	return q, f.content, nil
}

// urlAnswer parses the answer to a request to open a page.
func urlAnswer(d interrupt.Decision) (map[string]any, error) {
	if !d.Approved() {
		return nil, errors.New("answer approve when you are done, or deny to decline")
	}
	return nil, nil
}
