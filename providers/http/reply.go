package http

import (
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/providers/call"
)

// draft is a reply as an endpoint wrote it.
type draft struct {
	id, model string
	text      string
	refusal   string
	reasoning string
	calls     []model.ToolCall
	stop      model.StopReason // "" = it ended its turn
	usage     model.Tokens
}

// unsaid says that what text there is, is not the model's.
func (d *draft) unsaid() bool {
	return d.refusal != "" || d.stop == model.ContentFiltered || d.stop == model.Guardrail
}

// reply makes the engine's reply of a draft.
func (d *draft) reply() (out *model.Reply, err error) {
	out = &model.Reply{ID: d.id, Model: d.model, Text: d.text}
	if u := d.usage; call.Plausible(u.Input, u.Output, u.Cached, u.CacheWrite, u.Reasoning) {
		out.Usage = u
	}
	for _, c := range d.calls {
		if out.Calls, err = call.AddCall(out.Calls, c); err != nil {
			return nil, err
		}
	}
	out.Stop = d.stopped(len(out.Calls) > 0)
	if out.Stop == model.Refusal && out.Text == "" {
		out.Text = d.refusal
	}
	return out, nil
}

// stopped is why the model stopped. Calls that came are to be answered,
// whatever the endpoint calls its reason.
func (d *draft) stopped(calls bool) model.StopReason {
	switch {
	case d.refusal != "":
		return model.Refusal
	case d.stop != "" && d.stop != model.EndTurn && d.stop != model.ToolUse:
		return d.stop
	case calls:
		return model.ToolUse
	}
	return model.EndTurn
}
