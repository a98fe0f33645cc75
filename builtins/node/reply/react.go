package reply

import (
	"encoding/json"
	"strings"
)

// Action is what an executor in text mode answers: a tool to call with its
// input, or the answer of the step. With a Code it is neither, and Message says
// to the model what is wanted.
type Action struct {
	Thought string
	Tool    string
	// Input is the tool's input: an object where the model gave one, a JSON
	// string where it gave text, {} where it gave nothing.
	Input       json.RawMessage
	Final       bool
	Answer      string
	AnswerValue json.RawMessage // where the answer was not a string
	Repaired    bool
	Repairs     []string
	Warnings    []string
	Code        string
	Message     string
}

const wantedAction = ` Reply with one JSON object only: {"thought": "...", "action": "tool name", "action_input": {...}}, or {"thought": "...", "final_answer": "..."}.`

// React reads the reply of an executor in text mode: one JSON object, or lines
// that begin with "Thought:", "Action:", "Action Input:" or "Final Answer:".
// What a model invents behind its call, such as an observation, is dropped.
func React(text string, o Options) Action {
	src := prepare(text, o)
	if src.code == "" {
		found := src.candidates(o)
		for i := range found {
			if a, ok := reactObject(&found[i].value); ok {
				return a.with(found[i].fixes | src.fixes)
			}
		}
		if a, ok := reactText(src.text, o); ok {
			return a.with(src.fixes)
		}
		if len(found) > 0 {
			src.code = MissingFields
		}
	}
	src.blame(o)
	a := Action{Code: src.code, Message: "The reply has neither an action nor a final answer." + wantedAction}
	switch a.Code {
	case Refusal, TooLarge, TooDeep:
		a.Message = src.message()
	case Truncated:
		a.Message = "The reply was cut off." + wantedAction
	case EmptyOutput:
		a.Message = "The reply is empty." + wantedAction
	}
	return a
}

func (a Action) with(m fix) Action {
	a.Repairs = append(m.words(), a.Repairs...)
	a.Repaired = len(a.Repairs) > 0
	return a
}

// reactObject reads an action from an object, under the asked-for keys or
// those of the usual tool calls.
func reactObject(v *value) (Action, bool) {
	if v.kind == array && len(v.items) == 1 {
		v = &v.items[0]
	}
	if v.kind != object {
		return Action{}, false
	}
	var a Action
	var input, answer *value
	for i := range v.items {
		m := &v.items[i]
		switch plainKey(m.key) {
		case "thought", "thoughts", "reasoning":
			a.Thought = m.str
		case "action", "tool", "tool_name", "function", "name":
			a.named(m, &input)
		case "action_input", "input", "args", "arguments", "parameters", "tool_input":
			a.rename(m, "action_input")
			input = m
		case "final_answer", "answer", "final":
			a.rename(m, "final_answer")
			answer = m
		case "tool_calls", "tool_call", "function_call":
			if inner, ok := reactObject(m); ok {
				inner.Repairs = append(inner.Repairs, `action taken out of "`+m.key+`"`)
				return inner, true
			}
		}
	}
	return a.settle(input, answer)
}

// named takes the name of the tool, also from an object that holds the input.
func (a *Action) named(m *value, input **value) {
	if m.kind != object {
		a.rename(m, "action")
		a.Tool = strings.TrimSpace(m.str)
		return
	}
	if inner, ok := reactObject(m); ok && inner.Tool != "" {
		a.Tool = inner.Tool
		a.Repairs = append(a.Repairs, `action taken out of "`+m.key+`"`)
		*input = &value{kind: object, raw: string(inner.Input)}
	}
}

func (a *Action) rename(m *value, wanted string) {
	if m.key != wanted {
		a.Repairs = append(a.Repairs, `"`+m.key+`" read as "`+wanted+`"`)
	}
}

// settle decides between a call and an answer; an answer wins.
func (a Action) settle(input, answer *value) (Action, bool) {
	lower := strings.ToLower(strings.ReplaceAll(a.Tool, "_", " "))
	if lower == "final answer" || lower == "finish" && answer == nil {
		a.Tool, answer = "", input
	}
	if lower == "none" || lower == "null" || lower == "n/a" {
		a.Tool = ""
	}
	if answer != nil && !answer.blank() {
		if a.Tool != "" {
			a.Warnings = append(a.Warnings, Ambiguous)
		}
		res := final(answer)
		a.Tool, a.Final, a.Answer, a.AnswerValue = "", true, res.Result, res.ResultValue
		return a, true
	}
	if a.Tool == "" {
		return a, false
	}
	a.Input = a.inputOf(input)
	return a, true
}

// inputOf is a tool's input as JSON; text that holds an object becomes it.
func (a *Action) inputOf(v *value) json.RawMessage {
	switch {
	case v == nil || v.kind == null:
		return json.RawMessage("{}")
	case v.kind != text:
		return json.RawMessage(v.json())
	}
	return a.inputText(v.str)
}

func (a *Action) inputText(s string) json.RawMessage {
	s = strings.TrimSpace(s)
	if s == "" {
		return json.RawMessage("{}")
	}
	if opens(s) {
		if raw, _, code := JSON(s, Options{}); code == "" {
			a.Repairs = append(a.Repairs, "input text read as JSON")
			return raw
		}
	}
	return json.RawMessage(quote(s))
}
