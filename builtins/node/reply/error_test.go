package reply_test

import (
	"strings"
	"testing"

	"github.com/pexctl/pex/builtins/node/reply"
)

func TestUnusableRepliesHaveErrorCodes(t *testing.T) {
	for _, c := range []struct{ name, text, code string }{
		{"nothing", "", reply.EmptyOutput},
		{"BOM only", "\uFEFF", reply.EmptyOutput},
		{"reasoning only", "<think>hm</think>\n", reply.EmptyOutput},
		{"reasoning that never ends", `<think>maybe {"steps":["draft"],"result":""}`, reply.Truncated},
		{"empty fence", fence + "json\n", reply.Truncated},
		{"prose with a bullet plan", "1. look\n2. count", reply.NotJSON},
		{"prose behind reasoning", `<think>{"steps":["draft"]}</think> I am done.`, reply.NotJSON},
		{"None alone", "None", reply.NotJSON},
		{"yaml", "steps:\n  - a\nresult: ''", reply.NotJSON},
		{"list in a sentence", `The tags ["a","b"] are set.`, reply.NotJSON},
		{"broken step is not skipped", `{"steps":[{"goal":"a"},{"goal": oops},{"goal":"c"}],"result":""}`, reply.NotJSON},
		{"ellipsis", `{"steps":["a", ...],"result":""}`, reply.NotJSON},
		{"odd quote inside", `{"steps":["the 5" disk","b"],"result":""}`, reply.NotJSON},
		{"number alone", "42", reply.NotObject},
		{"text alone", `"hello"`, reply.NotObject},
		{"empty object", "{}", reply.MissingFields},
		{"error object in prose", `Sorry: {"error":"refused"}`, reply.MissingFields},
		{"schema echoed", `{"type":"object","properties":{"steps":{"type":"array"},"result":{"type":"string"}}}`, reply.MissingFields},
		{"booleans as steps", `{"steps":[true,false]}`, reply.MissingFields},
		{"steps is a number", `{"steps":3}`, reply.MissingFields},
		{"step without goal", `{"steps":[{"note":"x"}]}`, reply.MissingFields},
		{"prose response", `{"response":"I need to look first"}`, reply.MissingFields},
		{"empty array", "[]", reply.EmptyPlan},
		{"only nulls", `{"steps":[null,""],"result":null}`, reply.EmptyPlan},
		{"result of spaces", `{"steps":[],"result":"  "}`, reply.EmptyPlan},
		{"tool calls", `{"tool_calls":[{"id":"1","function":{"name":"x","arguments":"{}"}}]}`, reply.ToolCallInPlan},
		{"function call", `{"function_call":{"name":"x","arguments":"{}"}}`, reply.ToolCallInPlan},
		{"name and arguments", `{"name":"search","arguments":{"steps":["a"]}}`, reply.ToolCallInPlan},
		{"tool and input", `{"tool":"search","input":{"q":"x"}}`, reply.ToolCallInPlan},
		{"action", `{"thought":"t","action":"search","action_input":"x"}`, reply.ToolCallInPlan},
		{"tool_use", `[{"type":"tool_use","id":"t","name":"x","input":{}}]`, reply.ToolCallInPlan},
		{"tagged", `<tool_call>{"name":"x","arguments":{}}</tool_call>`, reply.ToolCallInPlan},
		{"xml", `<function_calls><invoke name="x"><parameter name="q">y</parameter></invoke></function_calls>`, reply.ToolCallInPlan},
		{"function tag", `<function=search>{"q":"x"}</function>`, reply.ToolCallInPlan},
		{"mistral", `[TOOL_CALLS][{"name":"x","arguments":{}}]`, reply.ToolCallInPlan},
		{"too deep", `{"result":` + strings.Repeat("[", 70) + strings.Repeat("]", 70) + `}`, reply.TooDeep},
		{"ten thousand deep", strings.Repeat(`{"a":`, 10000), reply.TooDeep},
		{"too large", `{"result":"` + strings.Repeat("x", 1<<20) + `"}`, reply.TooLarge},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := reply.Parse(c.text, reply.Options{})
			if got.Kind != reply.Error || got.Code != c.code {
				t.Fatalf("got %.300v, want %s", got, c.code)
			}
			if got.Message == "" || len(got.Message) > 600 || got.Steps != nil || got.Result != "" {
				t.Errorf("message %q, steps %v", got.Message, got.Steps)
			}
		})
	}
}

func TestMessageHasPositionAndExpectedFormat(t *testing.T) {
	got := reply.Parse("{\"steps\": [\"a\",\n oops]}", reply.Options{})
	for _, want := range []string{"line 2, column 2", `"oops]}"`, `"steps"`} {
		if !strings.Contains(got.Message, want) {
			t.Errorf("message %q lacks %q", got.Message, want)
		}
	}
	got = reply.Parse(`{"steps":["a",true]}`, reply.Options{})
	if !strings.Contains(got.Message, "Step 2 is a boolean") {
		t.Errorf("message %q does not name the step", got.Message)
	}
}

func TestUnusableReplyAtTheOutputLimitIsTruncated(t *testing.T) {
	if got := reply.Parse("I will first think about", reply.Options{Truncated: true}); got.Code != reply.Truncated {
		t.Errorf("prose: %+v", got)
	}
	if got := reply.Parse(`{"steps":["a"]}`, reply.Options{Truncated: true}); got.Kind != reply.Plan {
		t.Errorf("whole JSON: %+v", got)
	}
}

func TestRefusalsAreDetected(t *testing.T) {
	for _, text := range []string{
		"I can't help with that.",
		"I can’t assist with this request.",
		"I'm sorry, but I can't assist with that.",
		"Sorry, I cannot help you with that request.",
		"I am unable to provide assistance with this.",
		"I'm not able to help create malware.",
		"As an AI language model, I cannot engage in that.",
		"Unfortunately, I won't be able to help with this.",
		"I must decline this request.",
		"I respectfully decline to write this.",
		"I have to refuse.",
		"I'm not comfortable planning this.",
		"This request violates our content policy. Please ask something else.",
		"That goes against my guidelines.",
		"I appreciate you asking. However, I cannot comply with this request. Here is a hotline.",
		"**I cannot fulfill this request.** I am designed to be safe.",
		"I'm sorry, but I can't.",
		"I cannot in good conscience plan that.",
		"Lo siento, pero no puedo ayudar con eso.",
		"Je suis désolé, je ne peux pas vous aider.",
		"Dabei kann ich nicht helfen.",
		"<think>harmful</think>I can't help with that.",
	} {
		if got := reply.Parse(text, reply.Options{}); got.Code != reply.Refusal {
			t.Errorf("%q: %s", text, got.Code)
		}
	}
}

func TestWorkIsNotARefusal(t *testing.T) {
	for _, text := range []string{
		"I can't find the index yet, so I will list the indices first.",
		"I cannot answer that without data. Let me look at the indices.",
		"I will first search; I cannot do that without the mapping.",
		"The user cannot log in. Steps: check the logs.",
		"I can help with that. Step 1: look.",
		"I would rather chat about it.",
		"Unable to reach the server, retrying.",
		"I'm sorry for the confusion. The plan is to count.",
	} {
		if got := reply.Parse(text, reply.Options{}); got.Code != reply.NotJSON {
			t.Errorf("%q: %s", text, got.Code)
		}
	}
}
