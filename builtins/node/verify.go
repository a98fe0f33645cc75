package node

import (
	"encoding/json"

	"github.com/pexctl/pex/builtins/node/render"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/plan"
)

// verify checks whether the attempt met the step's success criterion.
func (a *attempt) verify(s engine.Scope) error {
	switch rule := a.x.cfg.Verify; rule.Source {
	case "", "none":
		return nil
	case "judge":
		return a.judge(s)
	default:
		v := s.View()
		ok, err := rule.Eval(v.StepEnv(rule.Source, &a.rec))
		switch {
		case err != nil:
			a.fail(plan.Failed, "`"+rule.Source+"` fails on the step's result: "+err.Error())
		case !ok:
			a.fail(plan.Failed, "the step's result does not satisfy `"+rule.Source+"`")
		}
		return nil
	}
}

// judge asks a model whether the report meets the step's success criterion.
func (a *attempt) judge(s engine.Scope) error {
	if a.st.Success == "" {
		return nil
	}
	messages := []model.Message{
		{Role: model.System, Text: model.Text{judgePrompt}},
		{Role: model.User, Text: render.Fenced(model.Text{"Step:\n", a.st.Goal, "\n\nSuccess criterion:\n", a.st.Success, "\n\nReport:\n"}, a.rec.Result)},
	}
	r, err := a.ask(s, "judge", model.Call{Role: "judge", Messages: messages, Schema: verdictSchema})
	if err != nil || r == nil {
		return err
	}
	recordExchange(s, messages, r)
	switch v, ok := readVerdict(r.Text); {
	case !ok:
		a.fail(plan.Failed, "invalid judge verdict: "+r.Text)
	case !v.pass:
		a.fail(plan.Failed, "the success criterion is not met: "+v.reason)
	}
	return nil
}

var verdictSchema = &model.ReplySchema{Name: "verdict", Schema: json.RawMessage(
	`{"type":"object","properties":{"met":{"type":"boolean"},"reason":{"type":"string"}},"required":["met","reason"],"additionalProperties":false}`)}
