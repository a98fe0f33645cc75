package http

import (
	"encoding/json"
	"strings"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/providers/call"
)

// maxCalls is how many tool calls of one reply are believed.
const maxCalls = 128

// draft is a reply as an endpoint wrote it.
type draft struct {
	id, model string
	text      string
	refusal   string
	reasoning string
	calls     []engine.ToolCall
	stop      engine.StopKind // "" = it ended its turn
	usage     engine.Tokens
}

// unsaid says that what text there is, is not the model's.
func (d *draft) unsaid() bool {
	return d.refusal != "" || d.stop == engine.ContentFiltered || d.stop == engine.Guardrail
}

// reply makes the engine's reply of a draft.
func (d *draft) reply(req *engine.Request) (*engine.Reply, error) {
	out := &engine.Reply{ID: d.id, Model: d.model, Text: strings.ToValidUTF8(d.text, "\uFFFD"), Usage: believed(d.usage)}
	for _, c := range d.calls {
		switch {
		case c.Name == "" && len(c.Args) == 0:
			continue // some servers send empty ghosts
		case c.Name == "":
			return nil, call.Bad("a tool call has no name, only arguments %.100s", c.Args)
		case len(c.Args) == 0 || string(c.Args) == "null":
			c.Args = json.RawMessage("{}")
		}
		out.Calls = append(out.Calls, c)
	}
	if len(out.Calls) > maxCalls {
		return nil, call.Bad("%d tool calls in one reply, more than %d", len(out.Calls), maxCalls)
	}
	req.Identify(out.Calls)
	out.Stop = d.stopped(len(out.Calls) > 0)
	if out.Stop == engine.Refusal && out.Text == "" {
		out.Text = strings.ToValidUTF8(d.refusal, "\uFFFD")
	}
	if out.Usage.Total() == 0 {
		out.Estimated = true
		out.Usage.Input = req.Estimate()
		out.Usage.Output = out.Estimate()
	}
	return out, nil
}

// stopped is why the model stopped. Calls that came are to be answered,
// whatever the endpoint calls its reason.
func (d *draft) stopped(calls bool) engine.StopKind {
	switch {
	case d.refusal != "":
		return engine.Refusal
	case d.stop != "" && d.stop != engine.EndTurn && d.stop != engine.ToolUse:
		return d.stop
	case calls:
		return engine.ToolUse
	}
	return engine.EndTurn
}

// believed are counts; nonsense counts as missing.
func believed(t engine.Tokens) engine.Tokens {
	const most = 1 << 40
	for _, n := range []int{t.Input, t.Output, t.Cached, t.CacheWrite, t.Reasoning} {
		if n < 0 || n > most {
			return engine.Tokens{}
		}
	}
	return t
}
