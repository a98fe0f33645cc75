package bedrock

import (
	"encoding/json"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime/types"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/providers/modelhttp"
)

// rawReply is a reply as received from the server.
type rawReply struct {
	request   *writer
	id, model string

	text     strings.Builder
	calls    []model.ToolCall
	thoughts []thought // since the last call
	stop     types.StopReason
	usage    *types.TokenUsage
}

// call adds a tool call with the thinking that led to it.
func (d *rawReply) call(id, name string, args json.RawMessage) (err error) {
	n := len(d.calls)
	d.calls, err = modelhttp.AddCall(d.calls, model.ToolCall{ID: id, Name: name, Args: args, Opaque: encodeThoughts(d.request.id, d.thoughts)})
	if len(d.calls) > n {
		d.thoughts = nil
	}
	return err
}

// reply converts to the engine's reply.
func (d *rawReply) reply() (*model.Reply, error) {
	out := &model.Reply{ID: d.id, Model: d.model, Text: d.text.String(), Calls: d.calls, Usage: tokens(d.usage)}
	d.useAnswerTool(out)
	var err error
	if out.Stop, err = stopKind(d.stop, len(out.Calls) > 0); err != nil {
		return nil, err
	}
	return out, nil
}

// useAnswerTool makes the arguments of the answer tool the text of the reply.
func (d *rawReply) useAnswerTool(out *model.Reply) {
	name := d.request.answer
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

// stopKind converts the stop reason. An unknown one counts as the end of the turn.
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
		return "", modelhttp.Bad("the server ended the reply with %s: the model's output is malformed", reason)
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

// tokens converts usage; implausible counts are treated as missing. Bedrock does not include cached tokens in the
// input, unless the total shows that it does.
func tokens(u *types.TokenUsage) model.Tokens {
	if u == nil {
		return model.Tokens{}
	}
	in, out, total := intOf(u.InputTokens), intOf(u.OutputTokens), intOf(u.TotalTokens)
	read, written := intOf(u.CacheReadInputTokens), intOf(u.CacheWriteInputTokens)
	if !modelhttp.Plausible(in, out, read, written) {
		return model.Tokens{}
	}
	if within := total == in+out && read+written <= in; !within {
		in += read + written
	}
	return model.Tokens{Input: in, Output: out, Cached: read, CacheWrite: written}
}

func intOf(n *int32) int {
	if n == nil {
		return 0
	}
	return int(*n)
}
