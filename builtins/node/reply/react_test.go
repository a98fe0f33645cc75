package reply_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/builtins/node/reply"
)

func TestReactFindsCallOrAnswer(t *testing.T) {
	for _, c := range []struct {
		name, text           string
		thought, tool, input string
		answer               string
		repaired             bool
		warnings             []string
	}{
		{name: "object with a call", text: `{"thought":"t","action":"search","action_input":{"q": "x"}}`, thought: "t", tool: "search", input: `{"q": "x"}`},
		{name: "object with an answer", text: `{"thought":"t","final_answer":"42"}`, thought: "t", answer: "42"},
		{name: "fenced, with prose", text: "Sure.\n```json\n{\"action\":\"search\",\"action_input\":{}}\n```", tool: "search", input: `{}`},
		{name: "no input", text: `{"action":"clock"}`, tool: "clock", input: `{}`},
		{name: "input as JSON text", text: `{"action":"search","action_input":"{\"q\":1}"}`, tool: "search", input: `{"q":1}`, repaired: true},
		{name: "input as text", text: `{"action":"search","action_input":"flights to \"Oslo\""}`, tool: "search", input: `"flights to \"Oslo\""`},
		{name: "empty answer beside a call", text: `{"action":"search","action_input":{"q":1},"final_answer":""}`, tool: "search", input: `{"q":1}`},
		{name: "call and answer", text: `{"action":"search","action_input":{},"final_answer":"42"}`, answer: "42", warnings: []string{reply.Ambiguous}},
		{name: "action called Final Answer", text: `{"action":"Final Answer","action_input":"42"}`, answer: "42"},
		{name: "no action in words", text: `{"action":"none","final_answer":"42"}`, answer: "42"},
		{name: "object as the answer", text: `{"final_answer":{"n":1}}`, answer: `{"n":1}`},
		{name: "single quotes", text: `{'action': 'search', 'action_input': {'q': 'x',}}`, tool: "search", input: `{"q":"x"}`, repaired: true},
		{name: "tool call", text: `<tool_call>{"name":"search","arguments":{"q":1}}</tool_call>`, tool: "search", input: `{"q":1}`, repaired: true},
		{name: "tool calls", text: `{"tool_calls":[{"type":"function","function":{"name":"search","arguments":"{\"q\":1}"}}]}`, tool: "search", input: `{"q":1}`, repaired: true},
		{name: "behind reasoning", text: `<think>{"action":"no"}</think>{"action":"search"}`, tool: "search", input: `{}`},
		{name: "lines with a call", text: "Thought: look\nAction: search\nAction Input: {\"q\": 1}", thought: "look", tool: "search", input: `{"q": 1}`},
		{name: "lines with an answer", text: "Thought: done\nFinal Answer: line 1\nline 2", thought: "done", answer: "line 1\nline 2"},
		{name: "answer that has JSON", text: "Final Answer: {\"n\": 1}", answer: `{"n": 1}`},
		{name: "bold labels", text: "**Thought:** look\n**Action:** `search`\n**Action Input:**\n```json\n{\"q\": 1}\n```", thought: "look", tool: "search", input: `{"q": 1}`},
		{name: "invented observation", text: "Action: search\nAction Input: {\"q\":1}\nObservation: found\nFinal Answer: 42", tool: "search", input: `{"q":1}`, repaired: true},
		{name: "second call dropped", text: "Action: a\nAction Input: x\nThought: more\nAction: b", tool: "a", input: `"x"`, repaired: true},
		{name: "input in brackets", text: "Action: search[flights to Oslo]", tool: "search", input: `"flights to Oslo"`},
		{name: "input in parentheses", text: "Action: search({\"q\": 1})", tool: "search", input: `{"q": 1}`},
		{name: "input over lines", text: "Action: search\nAction Input: {\n  \"q\": 1\n}", tool: "search", input: "{\n  \"q\": 1\n}"},
		{name: "lower-case labels", text: "thought: x\naction: search\naction_input: y", thought: "x", tool: "search", input: `"y"`},
		{name: "numbered labels", text: "Thought 1: x\nAction 1: search\nAction Input 1: y", thought: "x", tool: "search", input: `"y"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := reply.React(c.text, reply.Options{})
			if got.Code != "" || got.Thought != c.thought || got.Tool != c.tool || string(got.Input) != c.input ||
				got.Answer != c.answer || got.Final != (c.answer != "") || got.Repaired != c.repaired {
				t.Errorf("got %+v, input %s", got, got.Input)
			}
			if diff := cmp.Diff(c.warnings, got.Warnings); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestReactReportsErrors(t *testing.T) {
	for _, c := range []struct{ name, text, code string }{
		{"nothing", " ", reply.EmptyOutput},
		{"prose", "I would search now.", reply.NotJSON},
		{"other object", `{"steps":["a"]}`, reply.MissingFields},
		{"cut object", `{"thought":"t","action":"search","action_input":{"q":"x`, reply.Truncated},
		{"cut input", "Action: search\nAction Input: {\"q\": \"x", reply.Truncated},
		{"thought alone", "Thought: I need to look.", reply.NotJSON},
		{"refusal", "I can't help with that.", reply.Refusal},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := reply.React(c.text, reply.Options{})
			if got.Code != c.code || got.Tool != "" || got.Final {
				t.Errorf("got %+v", got)
			}
			if c.code != reply.Refusal && !strings.Contains(got.Message, "action_input") {
				t.Errorf("message %q", got.Message)
			}
		})
	}
}

func TestJSONFindsTheValue(t *testing.T) {
	for _, c := range []struct {
		name, text, want string
		repaired         bool
		code             string
	}{
		{name: "fenced", text: "Verdict:\n```json\n{\"pass\": true}\n```", want: `{"pass": true}`},
		{name: "in prose with citations", text: `As [1] says {"pass": true}.`, want: `{"pass": true}`},
		{name: "scalar", text: `42`, want: `42`},
		{name: "array", text: "The list:\n[1, 2]\n", want: `[1, 2]`},
		{name: "stringified", text: `"{\"pass\":true}"`, want: `{"pass":true}`, repaired: true},
		{name: "text stays text", text: `"hello {x}"`, want: `"hello {x}"`},
		{name: "mended", text: `{pass: True, why: 'it\'s fine',}`, want: `{"pass":true,"why":"it's fine"}`, repaired: true},
		{name: "prose", text: "It passes.", code: reply.NotJSON},
		{name: "inline array only", text: "As in [1], it passes.", code: reply.NotJSON},
		{name: "cut", text: `{"pass": tr`, code: reply.Truncated},
		{name: "refusal", text: "I cannot assist with that.", code: reply.Refusal},
		{name: "nothing", text: "", code: reply.EmptyOutput},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, repaired, code := reply.JSON(c.text, reply.Options{})
			if string(got) != c.want || repaired != c.repaired || code != c.code {
				t.Errorf("got %s, %v, %q", got, repaired, code)
			}
		})
	}
}
