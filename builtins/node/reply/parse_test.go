package reply_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/builtins/node/reply"
)

// accepted is a reply that must parse: goals for a plan, result for an answer.
type accepted struct {
	name, text string
	goals      []string
	result     string
	repaired   bool
	warnings   []string
}

func checkAccepted(t *testing.T, cases []accepted) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got := reply.Parse(c.text, reply.Options{})
			kind := reply.Final
			if c.goals != nil {
				kind = reply.Plan
			}
			if got.Kind != kind || got.Result != c.result {
				t.Fatalf("got %+v", got)
			}
			if diff := cmp.Diff(c.goals, goals(got)); diff != "" {
				t.Errorf("steps (-want +got):\n%s", diff)
			}
			if got.Repaired != c.repaired || got.Repaired != (len(got.Repairs) > 0) {
				t.Errorf("repaired %v %q, want %v", got.Repaired, got.Repairs, c.repaired)
			}
			if diff := cmp.Diff(c.warnings, got.Warnings); diff != "" {
				t.Errorf("warnings (-want +got):\n%s", diff)
			}
		})
	}
}

const fence = "```"

func TestReplyIsFoundInSurroundingText(t *testing.T) {
	a := []string{"a"}
	checkAccepted(t, []accepted{
		{name: "tilde fence", text: "~~~json\n{\"steps\":[\"a\"]}\n~~~", goals: a},
		{name: "four backticks", text: "````json\n{\"steps\":[\"a\"]}\n````", goals: a},
		{name: "fence without newline", text: fence + `json {"steps":["a"]}` + fence, goals: a},
		{name: "fence never closed behind whole JSON", text: fence + "json\n{\"steps\":[\"a\"]}", goals: a},
		{name: "json5 fence", text: fence + "json5\n{steps:[\"a\"]}\n" + fence, goals: a, repaired: true},
		{name: "python fence with another object before", text: fence + "python\nx = {\"k\": 1}\n" + fence + "\n" + fence + "json\n{\"steps\":[\"a\"]}\n" + fence, goals: a},
		{name: "fence inside a step", text: fence + "json\n{\"steps\":[\"run " + fence + "ls" + fence + " now\"]}\n" + fence, goals: []string{"run " + fence + "ls" + fence + " now"}},
		{name: "fence with raw newlines inside a result", text: "{\"result\":\"see\n" + fence + "json\n{\\\"a\\\":1}\n" + fence + "\"}", result: "see\n" + fence + "json\n{\"a\":1}\n" + fence, repaired: true},
		{name: "think with braces", text: "<think>maybe {\"steps\":[\"draft\"],\"result\":\"\"} or {x}</think>{\"steps\":[\"a\"]}", goals: a},
		{name: "think with an open brace", text: "<think>a { b \" c</think>\n{\"steps\":[\"a\"]}", goals: a},
		{name: "think in capitals", text: "<THINK>{\"steps\":[\"draft\"]}</THINK>{\"steps\":[\"a\"]}", goals: a},
		{name: "reasoning tag", text: "<reasoning>{\"result\":\"no\"}</reasoning>\n" + fence + "json\n{\"steps\":[\"a\"]}\n" + fence, goals: a},
		{name: "only the closing tag", text: "I draft {\"steps\":[\"draft\"]}\n</think>\n{\"steps\":[\"a\"]}", goals: a},
		{name: "two thoughts", text: "<think>x</think><think>{\"steps\":[\"draft\"]}</think>{\"steps\":[\"a\"]}", goals: a},
		{name: "bracketed thought", text: "[THINK]{\"steps\":[\"draft\"]}[/THINK]{\"steps\":[\"a\"]}", goals: a},
		{name: "channels", text: `<|channel|>analysis<|message|>{"steps":["draft"]}<|end|><|start|>assistant<|channel|>final<|message|>{"steps":["a"]}`, goals: a},
		{name: "think tags inside a valid result", text: `{"steps":[],"result":"write <think>x</think> first"}`, result: "write <think>x</think> first"},
		{name: "answer tag", text: `<answer>{"steps":["a"]}</answer>`, goals: a},
		{name: "BOM and newline", text: "\n\uFEFF\n{\"steps\":[\"a\"]}\n", goals: a},
		{name: "no-break space between", text: "{\"steps\":\u00a0[\"a\"]}", goals: a, repaired: true},
		{name: "set notation before", text: `The set {1, 2} matters: {"steps":["a"]}`, goals: a},
		{name: "template before", text: `I fill {{name}} and ${parameters.x}. {"steps":["a"]}`, goals: a},
		{name: "jinja comment before", text: `{# note #} {"steps":["a"]}`, goals: a},
		{name: "citation before", text: `As in [1] and [2, 3]: {"steps":["a"]}`, goals: a},
		{name: "issue number before", text: `See [#12]. {"steps":["a"]}`, goals: a},
		{name: "object that is no plan before", text: `Given {"index":"flights"}, I plan {"steps":["a"]}`, goals: a},
		{name: "braces behind", text: `{"steps":["a"]} where {x} is open {`, goals: a},
		{name: "one closing brace too many", text: `{"steps":["a"],"result":""}}`, goals: a},
		{name: "the same object twice", text: "{\"steps\":[\"a\"]}\n{\"steps\": [\"a\"]}", goals: a},
		{name: "empty form first", text: "{\"steps\":[],\"result\":\"\"}\n{\"steps\":[\"a\"]}", goals: a},
		{name: "three candidates", text: "{\"steps\":[\"a\"]} {\"steps\":[\"b\"]} {\"steps\":[\"c\"]}", goals: a, warnings: []string{reply.MultipleCandidates}},
		{name: "plan beside a leaked call", text: `{"steps":["a"]}<tool_call>{"name":"x","arguments":{}}</tool_call>`, goals: a, warnings: []string{reply.ToolCallIgnored}},
		{name: "array alone in a fence", text: "Steps:\n" + fence + "json\n[\"a\", \"b\"]\n" + fence, goals: []string{"a", "b"}, repaired: true},
		{name: "steps one a line", text: "{\"goal\":\"a\"}\n{\"goal\":\"b\"}", goals: []string{"a", "b"}, repaired: true},
	})
}

func TestMalformedJSONIsRepaired(t *testing.T) {
	a, ab := []string{"a"}, []string{"a", "b"}
	checkAccepted(t, []accepted{
		{name: "trailing commas everywhere", text: `{"steps":["a","b",],"result":"",}`, goals: ab, repaired: true},
		{name: "doubled comma", text: `{"steps":["a",,"b"],,"result":""}`, goals: ab, repaired: true},
		{name: "leading comma", text: `{"steps":[,"a","b"]}`, goals: ab, repaired: true},
		{name: "comma forgotten between lines", text: "{\"steps\":[\"a\"\n\"b\"]\n\"result\":\"\"}", goals: ab, repaired: true},
		{name: "comma forgotten between objects", text: `{"steps":[{"goal":"a"} {"goal":"b"}]}`, goals: ab, repaired: true},
		{name: "python dict", text: `{'steps': ['a', 'b'], 'result': None, 'ok': True, 'no': False}`, goals: ab, repaired: true},
		{name: "apostrophe in single quotes", text: `{'steps': ['don't stop'], 'result': ''}`, goals: []string{"don't stop"}, repaired: true},
		{name: "escaped apostrophe", text: `{"steps":["don\'t stop"]}`, goals: []string{"don't stop"}, repaired: true},
		{name: "double quotes in single ones", text: `{'steps': ['say "hi"']}`, goals: []string{`say "hi"`}, repaired: true},
		{name: "bare keys", text: `{steps: ["a"], result: ""}`, goals: a, repaired: true},
		{name: "capital literals", text: `{"steps":["a"],"result":NULL,"x":TRUE}`, goals: a, repaired: true},
		{name: "curly quotes", text: `{“steps”: [“a”, “b”], “result”: “”}`, goals: ab, repaired: true},
		{name: "curly single quotes", text: `{‘steps’: [‘a’, ‘b’]}`, goals: ab, repaired: true},
		{name: "curly quotes inside a string stay", text: `{"steps":["say “hi”"]}`, goals: []string{"say “hi”"}},
		{name: "guillemets", text: `{«steps»: [«a»]}`, goals: a, repaired: true},
		{name: "backticks as quotes", text: "{`steps`: [`a`]}", goals: a, repaired: true},
		{name: "block comment", text: `{/* plan */"steps":["a" /* first */,"b"]}`, goals: ab, repaired: true},
		{name: "hash comment", text: "{\"steps\":[\"a\"], # one\n\"result\":\"\"}", goals: a, repaired: true},
		{name: "a link is no comment", text: `{"steps":["get https://x.test/#top // now"]}`, goals: []string{"get https://x.test/#top // now"}},
		{name: "control character", text: "{\"steps\":[\"a\x01b\"]}", goals: []string{"a\x01b"}, repaired: true},
		{name: "carriage return", text: "{\"steps\":[\"a\r\nb\"]}", goals: []string{"a\r\nb"}, repaired: true},
		{name: "windows path", text: `{"steps":["open C:\data\x"]}`, goals: []string{`open C:\data\x`}, repaired: true},
		{name: "pattern", text: `{"steps":["match \d+\.\w"]}`, goals: []string{`match \d+\.\w`}, repaired: true},
		{name: "half a unicode escape", text: `{"steps":["\u12 x"]}`, goals: []string{`\u12 x`}, repaired: true},
		{name: "lone surrogate", text: `{"steps":["x\ud83d"]}`, goals: []string{"x\uFFFD"}},
		{name: "quotes inside, in pairs", text: `{"steps":["search for "foo" in logs","b"]}`, goals: []string{`search for "foo" in logs`, "b"}, repaired: true},
		{name: "quotes inside, before a comma", text: `{"steps":["find "x", then y"]}`, goals: []string{`find "x", then y`}, repaired: true},
		{name: "NaN beside", text: `{"steps":["a"],"score":NaN,"low":-Infinity,"u":undefined}`, goals: a, repaired: true},
		{name: "odd numbers beside", text: `{"steps":["a"],"x":+1,"y":.5,"z":3.,"n":007}`, goals: a, repaired: true},
		{name: "invalid UTF-8", text: "{\"steps\":[\"a\xff\"]}", goals: []string{"a\uFFFD"}, repaired: true},
		{name: "stringified", text: `"{\"steps\":[\"a\"],\"result\":\"\"}"`, goals: a, repaired: true},
		{name: "stringified twice", text: `"\"{\\\"steps\\\":[\\\"a\\\"]}\""`, goals: a, repaired: true},
		{name: "stringified without its quotes", text: `{\"steps\":[\"a\"],\"result\":\"\"}`, goals: a, repaired: true},
	})
}

func TestOtherFormatsAreAccepted(t *testing.T) {
	a, ab := []string{"a"}, []string{"a", "b"}
	checkAccepted(t, []accepted{
		{name: "capital keys", text: `{"Steps":["a"],"RESULT":""}`, goals: a, repaired: true},
		{name: "result under final_answer", text: `{"final_answer":"42"}`, result: "42", repaired: true},
		{name: "result under Final Answer", text: `{"steps":[],"Final Answer":"42"}`, result: "42", repaired: true},
		{name: "wrapped in response", text: `{"response":{"steps":["a"],"result":""}}`, goals: a, repaired: true},
		{name: "wrapped in output, beside others", text: `{"thought":"x","output":{"steps":["a"]}}`, goals: a, repaired: true},
		{name: "wrapped in result", text: `{"result":{"steps":["a"],"result":""}}`, goals: a, repaired: true},
		{name: "wrapped twice", text: `{"data":{"plan":{"steps":["a"]}}}`, goals: a, repaired: true},
		{name: "wrapped as text", text: `{"response":"{\"steps\":[\"a\"],\"result\":\"\"}"}`, goals: a, repaired: true},
		{name: "wrapped in an array", text: `[{"steps":["a"],"result":""}]`, goals: a, repaired: true},
		{name: "echoed properties", text: `{"properties":{"steps":["a"],"result":""}}`, goals: a, repaired: true},
		{name: "answer that has steps of its own", text: `{"result":{"dish":"soup","steps":["boil"]}}`, result: `{"dish":"soup","steps":["boil"]}`},
		{name: "steps by number", text: `{"steps":{"2":"b","1":"a"}}`, goals: ab, repaired: true},
		{name: "ten steps by number", text: `{"steps":{"10":"j","9":"i"}}`, goals: []string{"i", "j"}, repaired: true},
		{name: "steps by name and number", text: `{"steps":{"step_1":{"goal":"a"},"step_2":{"goal":"b"}}}`, goals: ab, repaired: true},
		{name: "numbered at the top", text: `{"Step 1":"a","Step 2":"b"}`, goals: ab, repaired: true},
		{name: "lone step", text: `{"goal":"a","tools":["x"]}`, goals: a, repaired: true},
		{name: "lone step under steps", text: `{"steps":{"goal":"a"}}`, goals: a, repaired: true},
		{name: "steps in lines", text: `{"steps":"1. a\n2. b"}`, goals: ab, repaired: true},
		{name: "steps in bullets", text: `{"steps":"- a\n- b\n"}`, goals: ab, repaired: true},
		{name: "steps in lines that go on", text: `{"steps":"1) a\n   more\n2) b"}`, goals: []string{"a\nmore", "b"}, repaired: true},
		{name: "steps in one line", text: `{"steps":"1. read 3.5 files, 2. count"}`, goals: []string{"read 3.5 files", "count"}, repaired: true},
		{name: "Step n: in lines", text: `{"steps":"Step 1: a\nStep 2: b"}`, goals: ab, repaired: true},
		{name: "steps as an array in a string", text: `{"steps":"[\"a\",\"b\"]"}`, goals: ab, repaired: true},
		{name: "nested list", text: `{"steps":[["a"],["b"]]}`, goals: ab, repaired: true},
		{name: "numbers in a proper list stay", text: `{"steps":["1. a","2. b"]}`, goals: []string{"1. a", "2. b"}},
		{name: "empty string between", text: `{"steps":["a","","b"]}`, goals: ab, repaired: true},
		{name: "placeholder beside steps", text: `{"steps":["a"],"result":"None"}`, goals: a, warnings: []string{reply.PlaceholderResult}},
		{name: "empty object beside steps", text: `{"steps":["a"],"result":{}}`, goals: a, warnings: []string{reply.PlaceholderResult}},
		{name: "None may be the answer", text: `{"steps":[],"result":"None"}`, result: "None"},
		{name: "number as result", text: `{"steps":[],"result":1.50}`, result: "1.50"},
		{name: "false as result", text: `{"steps":[],"result":false}`, result: "false"},
		{name: "spaces in an object result stay", text: `{"result": {"b": 1,  "a": [ ]}}`, result: `{"b": 1,  "a": [ ]}`},
		{name: "mended object result", text: `{"result":{'b':1,}}`, result: `{"b":1}`, repaired: true},
		{name: "big number in a result", text: `{"result":{"n":12345678901234567890123}}`, result: `{"n":12345678901234567890123}`},
		{name: "steps twice", text: `{"steps":["a"],"steps":["b"]}`, goals: []string{"b"}, warnings: []string{reply.DuplicateKeys}},
		{name: "refusal inside a result", text: `{"steps":[],"result":"I can't help with that."}`, result: "I can't help with that."},
		{name: "plan as commentary", text: `{"plan":"I will look","steps":["a"],"result":""}`, goals: a},
		{name: "deep but within bounds", text: `{"result":` + strings.Repeat("[", 60) + strings.Repeat("]", 60) + `}`, result: strings.Repeat("[", 60) + strings.Repeat("]", 60)},
	})
}
