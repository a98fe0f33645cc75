package judge

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/eval/trial"
)

// Judge is a Grader that calls a model. It is safe for concurrent use.
type Judge struct {
	model model.Model
	spec  *engine.ModelSpec
	cache cache
	forms forms
}

var _ trial.Grader = (*Judge)(nil)

// New returns a judge that uses a model. spec has the model's parameters and price; nil = defaults, free. The
// temperature is 0 unless spec sets it.
func New(model model.Model, spec *engine.ModelSpec) *Judge {
	if spec == nil {
		spec = &engine.ModelSpec{}
	}
	return &Judge{model: model, spec: spec, cache: newCache()}
}

// Grade implements trial.Grader. Its errors wrap the *model.Error of the model; two invalid replies are an error
// of kind bad_reply. On error, the judgement still has the usage.
func (j *Judge) Grade(ctx context.Context, q trial.Question) (trial.Judgement, error) {
	out, err := j.cache.once(ctx, q, func() (trial.Judgement, error) { return j.ask(ctx, q) })
	if err != nil {
		return trial.Judgement{Tokens: out.Tokens, Cost: out.Cost}, fmt.Errorf("judge %s: %w", j.spec.Name, err)
	}
	return out, nil
}

// attempts is how often a question is sent.
const attempts = 2

// ask sends a question, and repeats it with the error if the reply is invalid.
func (j *Judge) ask(ctx context.Context, q trial.Question) (out trial.Judgement, err error) {
	form, err := j.forms.of(q.Schema)
	if err != nil {
		return out, err
	}
	req := j.request(q)
	var invalid error
	for req.Call = 1; req.Call <= attempts; req.Call++ {
		reply, err := j.model.Generate(ctx, req, nil)
		if err != nil {
			return out, err
		}
		out.Tokens += reply.Usage.Total()
		out.Cost += j.spec.Cost.Of(reply.Usage)
		if err := refusal(reply); err != nil {
			return out, err
		}
		if out.Text, invalid = form.extract(reply.Text); invalid == nil {
			return out, nil
		}
		if reply.Stop == model.MaxTokens {
			invalid = errors.New("it was cut off at max_output_tokens")
		}
		req.Messages = append(req.Messages,
			model.Message{Role: model.Assistant, Text: model.Text{reply.Text}},
			model.Message{Role: model.User, Text: model.Text{"Your reply is invalid: " + invalid.Error() + ". Reply again with only the requested JSON object."}})
	}
	return out, &model.Error{Kind: model.BadReply, Message: "invalid reply: " + invalid.Error(), Err: invalid}
}

// request builds the model request for a question.
func (j *Judge) request(q trial.Question) *model.Request {
	req := &model.Request{Role: "judge", Params: j.spec.Params}
	system := q.System
	if system == "" {
		system = strings.Join(j.spec.SystemPrompt.Render(func(string, string) (any, bool) { return nil, false }), "")
	}
	if system != "" {
		req.Messages = append(req.Messages, model.Message{Role: model.System, Text: model.Text{system}})
	}
	req.Messages = append(req.Messages, model.Message{Role: model.User, Text: model.Text{q.Prompt}})
	if len(q.Schema) > 0 {
		req.Schema = &model.ReplySchema{Name: "judgement", Schema: q.Schema}
	}
	if req.Params.Temperature == nil && q.Vote == 0 {
		zero := 0.0
		req.Params.Temperature = &zero
	}
	if req.Params.Seed != nil && q.Vote > 0 {
		seed := *req.Params.Seed + int64(q.Vote) // different seeds, or all votes would be equal
		req.Params.Seed = &seed
	}
	return req
}

// refusal returns an error if the model refused to reply.
func refusal(r *model.Reply) error {
	switch r.Stop {
	case model.Refusal, model.ContentFiltered, model.Guardrail:
		return &model.Error{Kind: model.BadReply, Message: fmt.Sprintf("the judge refused (%s): %.200s", r.Stop, r.Text)}
	default:
		return nil
	}
}
