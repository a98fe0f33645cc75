package probe

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/pexctl/pex/engine/model"
)

// codes are results that no model can guess.
var codes = map[string]string{"alpha": "7341", "beta": "2958"}

var lookup = model.ToolDef{
	Name:        "lookup_code",
	Description: "Returns the code of one name.",
	Input:       json.RawMessage(`{"type":"object","properties":{"name":{"type":"string","enum":["alpha","beta"]}},"required":["name"],"additionalProperties":false}`),
}

const toolTask = "Use the tool lookup_code to find the code of alpha and the code of beta. Then reply with the two codes and nothing else."

// toolTurns is the maximum number of model calls. A model that makes one tool call per reply needs three.
const toolTurns = 3

// tools lets the model call a tool, returns the results and checks that the final reply contains them. parallel is whether
// the model made both calls in one reply.
func (x *exchange) tools() (out, parallel outcome) {
	parallel = outcome{Skipped, "skipped: no tool call", nil}
	messages := user(toolTask)
	mistakes := ""
	for turn := 1; turn <= toolTurns; turn++ {
		r, err := x.call(&model.Request{Messages: messages, Tools: []model.ToolDef{lookup}, ParallelTools: true}, nil)
		if err != nil {
			return failedTurn(err, turn), parallel
		}
		if len(r.Calls) == 0 {
			return judgeReply(r, turn, mistakes), parallel
		}
		if turn == 1 {
			parallel = parallelCalls(r.Calls)
		}
		messages = append(messages, model.Message{Role: model.Assistant, Text: model.Text{r.Text}, Calls: r.Calls})
		for _, c := range r.Calls {
			m, mistake := result(c)
			messages = append(messages, m)
			if mistake != "" {
				mistakes = mistake
			}
		}
	}
	if mistakes != "" {
		return outcome{No, mistakes, nil}, parallel
	}
	return outcome{Partly, fmt.Sprintf("calls the tool, but gave no final reply after %d turns", toolTurns), nil}, parallel
}

// parallelCalls checks whether one reply makes several calls.
func parallelCalls(calls []model.ToolCall) outcome {
	if len(calls) == 1 {
		return outcome{No, "one call per reply", nil}
	}
	return outcome{Yes, fmt.Sprintf("%d calls in one reply", len(calls)), nil}
}

// failedTurn is the outcome of an exchange in which a model call failed.
func failedTurn(err error, turn int) outcome {
	out := failed(err)
	if turn > 1 && out.works == No {
		out.note = "the tool was called, but the request with its result failed"
	}
	return out
}

// judgeReply judges a reply without tool calls.
func judgeReply(r *model.Reply, turn int, mistakes string) outcome {
	note := unusable(r)
	switch {
	case note != "" && turn > 1:
		return outcome{Partly, "calls the tool, then: " + note, nil}
	case note != "":
		return outcome{Partly, note, nil}
	case turn == 1:
		return outcome{No, "calls no tool; replied " + quoteReply(r.Text), nil}
	case mistakes != "":
		return outcome{Partly, mistakes, nil}
	}
	for _, code := range codes {
		if !strings.Contains(r.Text, code) {
			return outcome{Partly, "calls the tool, but the reply does not contain the results: " + quoteReply(r.Text), nil}
		}
	}
	return outcome{Yes, fmt.Sprintf("tool call, result and reply in %d turns", turn), nil}
}

// result returns the result of a tool call, and what is wrong with the call.
func result(c model.ToolCall) (m model.Message, mistake string) {
	m = model.Message{Role: model.ToolRole, CallID: c.ID, Tool: c.Name, IsError: true}
	var args struct{ Name string }
	switch err := json.Unmarshal(c.Args, &args); {
	case c.Name != lookup.Name:
		mistake = "calls the unknown tool " + quoteReply(c.Name)
	case err != nil:
		mistake = "calls the tool with invalid arguments: " + quoteReply(string(c.Args))
	case codes[args.Name] == "":
		mistake = "calls the tool with the wrong name " + quoteReply(args.Name)
	default:
		m.IsError, m.Text = false, model.Text{codes[args.Name]}
		return m, ""
	}
	m.Text = model.Text{"error: call lookup_code with {\"name\": \"alpha\"} or {\"name\": \"beta\"}"}
	return m, mistake
}
