package probe

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/pexctl/pex/engine/model"
)

// codes are what the tool knows and no model does.
var codes = map[string]string{"alpha": "7341", "beta": "2958"}

var lookup = model.ToolDef{
	Name:        "lookup_code",
	Description: "Returns the code of one name.",
	Input:       json.RawMessage(`{"type":"object","properties":{"name":{"type":"string","enum":["alpha","beta"]}},"required":["name"],"additionalProperties":false}`),
}

const toolTask = "Use the tool lookup_code to find the code of alpha and the code of beta. Then reply with the two codes and nothing else."

// toolTurns are how many calls the exchange has at most: a model that asks for
// one thing at a time needs three.
const toolTurns = 3

// tools lets the model call a tool, gives it the results, and looks whether it
// has read them. parallel is whether it asked for both in one reply.
func (x *exchange) tools() (out, parallel outcome) {
	parallel = outcome{Unasked, "no tool call came", nil}
	messages := user(toolTask)
	slips := ""
	for turn := 1; turn <= toolTurns; turn++ {
		r, err := x.ask(&model.Request{Messages: messages, Tools: []model.ToolDef{lookup}, ParallelTools: true}, nil)
		if err != nil {
			return interrupted(err, turn), parallel
		}
		if len(r.Calls) == 0 {
			return concluded(r, turn, slips), parallel
		}
		if turn == 1 {
			parallel = sideBySide(r.Calls)
		}
		messages = append(messages, model.Message{Role: model.Assistant, Text: model.Text{r.Text}, Calls: r.Calls})
		for _, c := range r.Calls {
			m, slip := result(c)
			messages = append(messages, m)
			if slip != "" {
				slips = slip
			}
		}
	}
	if slips != "" {
		return outcome{No, slips, nil}, parallel
	}
	return outcome{Partly, fmt.Sprintf("calls the tool, but had not answered after %d turns", toolTurns), nil}, parallel
}

// sideBySide says whether one reply asks for several calls.
func sideBySide(calls []model.ToolCall) outcome {
	if len(calls) == 1 {
		return outcome{No, "one call a reply", nil}
	}
	return outcome{Yes, fmt.Sprintf("%d calls in one reply", len(calls)), nil}
}

// interrupted is an exchange in which a call failed.
func interrupted(err error, turn int) outcome {
	out := broken(err)
	if turn > 1 && out.works == No {
		out.note = "the tool was called, but its result was not taken"
	}
	return out
}

// concluded judges the reply that calls nothing.
func concluded(r *model.Reply, turn int, slips string) outcome {
	note := mute(r)
	switch {
	case note != "" && turn > 1:
		return outcome{Partly, "calls the tool, then " + note, nil}
	case note != "":
		return outcome{Partly, note, nil}
	case turn == 1:
		return outcome{No, "calls no tool, but says " + quoted(r.Text), nil}
	case slips != "":
		return outcome{Partly, slips, nil}
	}
	for _, code := range codes {
		if !strings.Contains(r.Text, code) {
			return outcome{Partly, "calls the tool, but its answer does not hold the results: " + quoted(r.Text), nil}
		}
	}
	return outcome{Yes, fmt.Sprintf("a call, its result and an answer in %d turns", turn), nil}
}

// result is what the tool answers, and what is wrong with the call.
func result(c model.ToolCall) (m model.Message, slip string) {
	m = model.Message{Role: model.ToolRole, CallID: c.ID, Tool: c.Name, IsError: true}
	var args struct{ Name string }
	switch err := json.Unmarshal(c.Args, &args); {
	case c.Name != lookup.Name:
		slip = "calls the tool " + quoted(c.Name) + ", which there is not"
	case err != nil:
		slip = "calls the tool with arguments that do not fit: " + quoted(string(c.Args))
	case codes[args.Name] == "":
		slip = "calls the tool for " + quoted(args.Name) + ", which was not asked for"
	default:
		m.IsError, m.Text = false, model.Text{codes[args.Name]}
		return m, ""
	}
	m.Text = model.Text{"error: call lookup_code with {\"name\": \"alpha\"} or {\"name\": \"beta\"}"}
	return m, slip
}
