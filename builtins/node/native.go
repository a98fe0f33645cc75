package node

import (
	"strconv"

	"github.com/pexctl/pex/engine"
)

// native is the protocol of providers with a tool API.
type native struct{}

func (*native) open(messages []engine.Message, tools []engine.ToolInfo) ([]engine.Message, []engine.ToolDef) {
	return messages, toolDefs(tools)
}

func (*native) read(r *engine.Reply, turn int) parsedReply {
	for i := range r.Calls {
		if r.Calls[i].ID != "" {
			continue
		}
		calls := make([]engine.ToolCall, len(r.Calls)) // the reply is the journal's
		copy(calls, r.Calls)
		for j := i; j < len(calls); j++ {
			if calls[j].ID == "" {
				calls[j].ID = "call_" + strconv.Itoa(turn) + "_" + strconv.Itoa(j)
			}
		}
		return parsedReply{calls: calls, answer: r.Text}
	}
	return parsedReply{calls: r.Calls, answer: r.Text}
}

func (*native) appendTurn(messages []engine.Message, r *engine.Reply, calls []engine.ToolCall, results []engine.ToolRecord) []engine.Message {
	messages = append(messages, engine.Message{Role: engine.Assistant, Text: textOf(r.Text), Calls: calls, Reply: r})
	for i, rec := range results {
		messages = append(messages, engine.Message{
			Role: engine.ToolRole, CallID: calls[i].ID, Tool: rec.Tool,
			Text: outputOf(rec), IsError: rec.Status != engine.CallOK,
		})
	}
	return messages
}
