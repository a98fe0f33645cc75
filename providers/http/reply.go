package http

import (
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/providers/modelhttp"
)

// rawReply is a reply as an endpoint wrote it.
type rawReply struct {
	id, model string
	text      string
	refusal   string
	reasoning string
	calls     []model.ToolCall
	stop      model.StopReason // "" = end of turn
	usage     model.Tokens
}

// notFromModel reports whether the text does not come from the model.
func (d *rawReply) notFromModel() bool {
	return d.refusal != "" || d.stop == model.ContentFiltered || d.stop == model.Guardrail
}

// reply converts to the engine's reply.
func (d *rawReply) reply() (out *model.Reply, err error) {
	out = &model.Reply{ID: d.id, Model: d.model, Text: d.text}
	if u := d.usage; modelhttp.Plausible(u.Input, u.Output, u.Cached, u.CacheWrite, u.Reasoning) {
		out.Usage = u
	}
	for _, c := range d.calls {
		if out.Calls, err = modelhttp.AddCall(out.Calls, c); err != nil {
			return nil, err
		}
	}
	out.Stop = d.stopReason(len(out.Calls) > 0)
	if out.Stop == model.Refusal && out.Text == "" {
		out.Text = d.refusal
	}
	return out, nil
}

// stopReason returns why the model stopped. If there are calls they must be answered,
// whatever reason the endpoint reports.
func (d *rawReply) stopReason(calls bool) model.StopReason {
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
