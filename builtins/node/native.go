package node

import (
	"strconv"

	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/tool"
)

// native is the protocol of providers with a tool call API.
type native struct{}

func (*native) open(messages []model.Message, tools []tool.Info) ([]model.Message, []model.ToolDef) {
	return messages, toolDefs(tools)
}

func (*native) read(r *model.Reply, turn int) parsedReply {
	for i := range r.Calls {
		if r.Calls[i].ID != "" {
			continue
		}
		calls := make([]model.ToolCall, len(r.Calls)) // r belongs to the journal, so copy
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

func (*native) appendTurn(messages []model.Message, r *model.Reply, calls []model.ToolCall, results []tool.Record) []model.Message {
	messages = append(messages, model.Message{Role: model.Assistant, Text: textOf(r.Text), Calls: calls, Reply: r})
	for i, rec := range results {
		messages = append(messages, model.Message{
			Role: model.ToolRole, CallID: calls[i].ID, Tool: rec.Tool,
			Text: outputOf(rec), IsError: rec.Status != tool.CallOK,
		})
	}
	return messages
}
