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

// What a server is told of a person's answer.
const (
	accepted  = "accept"
	declined  = "decline"
	dismissed = "cancel" // nobody decided
)

// elicit puts a question of the server to a person.
func (s *session) elicit(ctx context.Context, req *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
	u, err := s.calls.of(ctx)
	if errors.Is(err, errWhose) {
		s.calls.tell(err.Error())
	}
	if err != nil || u.call.Ask == nil {
		return &sdk.ElicitResult{Action: dismissed}, nil
	}
	u.asking.Lock()
	defer u.asking.Unlock()
	ctx, stop := u.within(ctx)
	defer stop()
	q, read, err := question(req.Params)
	if err != nil {
		return nil, err
	}
	return u.ask(ctx, q, read)
}

// within is a context that ends with the call, or with the question.
func (u *underway) within(ctx context.Context) (context.Context, func()) {
	both, cancel := context.WithCancelCause(u.ctx)
	stop := context.AfterFunc(ctx, func() { cancel(context.Cause(ctx)) })
	return both, func() { stop(); cancel(nil) }
}

// ask asks until the answer can be used, as often as the engine lets it.
func (u *underway) ask(ctx context.Context, q interrupt.Question, read func(interrupt.Decision) (map[string]any, error)) (*sdk.ElicitResult, error) {
	for what := q.Question; ; {
		d, err := u.call.Ask(ctx, q)
		switch {
		case errors.Is(err, tool.ErrAsking):
			return nil, err // the call has ended
		case err != nil:
			return &sdk.ElicitResult{Action: dismissed}, nil
		case d.Do == "deny":
			return &sdk.ElicitResult{Action: declined}, nil
		}
		content, err := read(d)
		if err == nil {
			return &sdk.ElicitResult{Action: accepted, Content: content}, nil
		}
		q.Question = fmt.Sprintf("%s\nThe answer cannot be used: %v.", what, err)
	}
}

// question is what a person is asked, and how the answer is read.
func question(p *sdk.ElicitParams) (interrupt.Question, func(interrupt.Decision) (map[string]any, error), error) {
	q := interrupt.Question{Kind: interrupt.Elicitation, Question: strings.ToValidUTF8(p.Message, "\uFFFD")}
	if p.URL != "" {
		args, err := json.Marshal(map[string]string{"url": p.URL})
		q.Args = args
		q.Question = strings.TrimSpace(q.Question+"\nThe server asks to open "+p.URL) + "\nApprove once that is done."
		return q, visited, err
	}
	f, err := newForm(p.RequestedSchema)
	if err != nil {
		return q, nil, err
	}
	q.Args = f.schema
	return q, f.content, nil
}

// visited is the answer to a page that a person was to open.
func visited(d interrupt.Decision) (map[string]any, error) {
	if !d.Approved() {
		return nil, errors.New("approve says that it is done, and deny that it will not be")
	}
	return nil, nil
}
