package bedrock

import (
	"encoding/json"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime/types"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/providers/modelhttp"
)

// draft is a reply as the server gave it.
type draft struct {
	asked     *writer
	id, model string

	text     strings.Builder
	calls    []model.ToolCall
	thoughts []thought // since the last call
	stop     types.StopReason
	usage    *types.TokenUsage
}

// call adds a tool call, which keeps the thoughts that led to it.
func (d *draft) call(id, name string, args json.RawMessage) (err error) {
	n := len(d.calls)
	d.calls, err = modelhttp.AddCall(d.calls, model.ToolCall{ID: id, Name: name, Args: args, Opaque: keep(d.asked.id, d.thoughts)})
	if len(d.calls) > n {
		d.thoughts = nil
	}
	return err
}

// reply makes the engine's reply of a draft.
func (d *draft) reply() (*model.Reply, error) {
	out := &model.Reply{ID: d.id, Model: d.model, Text: d.text.String(), Calls: d.calls, Usage: tokens(d.usage)}
	d.answered(out)
	var err error
	if out.Stop, err = stopKind(d.stop, len(out.Calls) > 0); err != nil {
		return nil, err
	}
	return out, nil
}

// answered takes the answer from the tool that was there for it.
func (d *draft) answered(out *model.Reply) {
	name := d.asked.answer
	if name == "" {
		return
	}
	var others []model.ToolCall
	found := false
	for _, c := range out.Calls {
		if c.Name == name && !found {
			out.Text, found = string(c.Args), true
			continue
		}
		others = append(others, c)
	}
	out.Calls = others
}

// stopKind translates the reason why the model stopped. A word that is new has
// ended its turn.
func stopKind(reason types.StopReason, calls bool) (model.StopReason, error) {
	switch reason {
	case types.StopReasonMaxTokens, types.StopReasonModelContextWindowExceeded:
		return model.MaxTokens, nil
	case types.StopReasonContentFiltered:
		return model.ContentFiltered, nil
	case types.StopReasonGuardrailIntervened:
		return model.Guardrail, nil
	case "refusal":
		return model.Refusal, nil
	case types.StopReasonMalformedModelOutput, types.StopReasonMalformedToolUse:
		return "", modelhttp.Bad("the server ended the reply with %s: what the model wrote cannot be read", reason)
	case types.StopReasonStopSequence:
		if !calls {
			return model.StopSequence, nil
		}
	case types.StopReasonEndTurn, types.StopReasonToolUse:
	}
	if calls {
		return model.ToolUse, nil
	}
	return model.EndTurn, nil
}

// tokens translates usage; nonsense counts as missing. Bedrock counts what the
// cache gave and took beside the input, unless the total says otherwise.
func tokens(u *types.TokenUsage) model.Tokens {
	if u == nil {
		return model.Tokens{}
	}
	in, out, total := number(u.InputTokens), number(u.OutputTokens), number(u.TotalTokens)
	read, written := number(u.CacheReadInputTokens), number(u.CacheWriteInputTokens)
	if !modelhttp.Plausible(in, out, read, written) {
		return model.Tokens{}
	}
	if within := total == in+out && read+written <= in; !within {
		in += read + written
	}
	return model.Tokens{Input: in, Output: out, Cached: read, CacheWrite: written}
}

func number(n *int32) int {
	if n == nil {
		return 0
	}
	return int(*n)
}
