package reply

import (
	"encoding/json"
	"strings"
)

// Action is the reply of an executor in text mode: a tool call, or the answer of the
// step. If Code is set it is neither, and Message tells the model what to reply.
type Action struct {
	Thought string
	Tool    string
	// Input is the tool's input: an object if the model wrote one, a JSON string if it
	// wrote text, {} if it wrote nothing.
	Input       json.RawMessage
	Final       bool
	Answer      string
	AnswerValue json.RawMessage // set if the answer was not a string
	Repaired    bool
	Repairs     []string
	Warnings    []string
	Code        string
	Message     string
}

const wantedAction = ` Reply with one JSON object only: {"thought": "...", "action": "tool name", "action_input": {...}}, or {"thought": "...", "final_answer": "..."}.`

// React parses the reply of an executor in text mode: one JSON object, or lines that
// start with "Thought:", "Action:", "Action Input:" or "Final Answer:". It drops
// everything after the call, such as an observation that the model invented.
func React(text string, o Options) Action {
	src := prepare(text, o)
	if src.code == "" {
		found := src.candidates(o)
		for i := range found {
			if a, ok := reactObject(&found[i].value); ok {
				return a.withRepairs(found[i].fixes | src.fixes)
			}
		}
		if a, ok := reactText(src.text, o); ok {
			return a.withRepairs(src.fixes)
		}
		if len(found) > 0 {
			src.code = MissingFields
		}
	}
	src.setCode(o)
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

func (a Action) withRepairs(m fix) Action {
	a.Repairs = append(m.words(), a.Repairs...)
	a.Repaired = len(a.Repairs) > 0
	return a
}

// reactObject reads an action from an object with the requested keys or those of common
// tool call formats.
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
			a.toolName(m, &input)
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
	return a.callOrAnswer(input, answer)
}

// toolName reads the name of the tool, which may be in an object together with the input.
func (a *Action) toolName(m *value, input **value) {
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

func (a *Action) rename(m *value, name string) {
	if m.key != name {
		a.Repairs = append(a.Repairs, `"`+m.key+`" read as "`+name+`"`)
	}
}

// callOrAnswer decides between a call and an answer. An answer wins.
func (a Action) callOrAnswer(input, answer *value) (Action, bool) {
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
		res := finalResult(answer)
		a.Tool, a.Final, a.Answer, a.AnswerValue = "", true, res.Result, res.ResultValue
		return a, true
	}
	if a.Tool == "" {
		return a, false
	}
	a.Input = a.inputOf(input)
	return a, true
}

// inputOf returns a tool's input as JSON. A text that contains an object becomes that
// object.
func (a *Action) inputOf(v *value) json.RawMessage {
	switch {
	case v == nil || v.kind == null:
		return json.RawMessage("{}")
	case v.kind != stringKind:
		return json.RawMessage(v.json())
	}
	return a.inputText(v.str)
}

func (a *Action) inputText(s string) json.RawMessage {
	s = strings.TrimSpace(s)
	if s == "" {
		return json.RawMessage("{}")
	}
	if startsLikeJSON(s) {
		if raw, _, code := JSON(s, Options{}); code == "" {
			a.Repairs = append(a.Repairs, "input text read as JSON")
			return raw
		}
	}
	return json.RawMessage(quote(s))
}
