package golden_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/eval/golden"
	"github.com/pexctl/pex/eval/textdiff"
)

// spec has the texts of an example spec.
var spec = []dsl.Source{
	{Path: "parameters.style.default", File: "spec.yaml", Line: 5, Text: "Answer in verse."},
	{Path: "parameters.style.type", File: "spec.yaml", Line: 4, Text: "string"},
	{Path: "tools.refund.input_schema.type", File: "spec.yaml", Line: 30, Text: "string"},
	{Path: "llms.main.temperature", File: "spec.yaml", Line: 9, Text: "0.2"},
	{Path: "llms.main.max_output_tokens", File: "spec.yaml", Line: 10, Text: "2"},
	{Path: "tools.search.description", File: "lib.yaml", Line: 3, Text: "Finds things on the net."},
	{Path: "tools.calculator.description", File: "lib.yaml", Line: 9, Text: "Does sums."},
	{Path: "prompts.who", File: "spec.yaml", Line: 20, Text: "You are a careful planner.\nYou never guess.\n"},
	{Path: "planner.system_prompt", File: "spec.yaml", Line: 20, Text: "You are a careful planner.\nYou never guess.\n"},
	{Path: "planner.planner_prompt_template", File: "prompts/plan.md", Line: 1, Text: "# Question\n\n${parameters.question}\n\nYou may take ${parameters.remaining_steps} steps, no more.\nTools:\n$<parameters.tools_prompt>\n\nCost: $5\n"},
	{Path: "executor.executor_system_prompt", File: "spec.yaml", Line: 40, Text: "You never guess.\nYou run steps."},
	{Path: "limits.max_steps", File: "--set limits.max_steps=7", Text: "7 is enough"},
	{Path: "planner.plan_format", File: "spec.yaml", Line: 60, Text: "steps"},
	{Path: "llms.main.options.replies[0].text", File: "replies.yaml", Line: 3, Text: "Answer with one object of JSON."},
	{Path: "parameters.tone.default", File: "spec.yaml", Line: 7, Text: "terse"},
	{Path: "finalizer.finalizer_prompt_template", File: "spec.yaml", Line: 70, Text: "Objective: ${parameters.question}\n${parameters.steps} were taken"},
	{Path: "executor.executor_prompt", File: "exec.md", Line: 1, Text: "Style: ${parameters.mood|trim}\nAsk in $<parameters.lang:-en> only.\n${parameters.motto}\nKeep still. \n"},
	{Path: "parameters.mood.default", File: "spec.yaml", Line: 80, Text: "x"},
	{Path: "parameters.lang", File: "tests/a/case.yaml", Text: "de"},
	{Path: "parameters.motto.default", File: "spec.yaml", Line: 82, Text: "go on"},
	{Path: "tools.clock", File: "spec.yaml", Line: 90, Text: "clock"},
	{Path: "reflector.reflect_prompt", Text: "Look at what the steps gave and decide"},
}

func TestBlameNamesCauseOfChange(t *testing.T) {
	for _, c := range []struct {
		name, node, before, after string
		want                      []string
	}{
		{"nothing", "planner", "a\n", "a\n", nil},
		{"a line", "planner", "You are a planner.\nYou never guess.\n", "You are a careful planner.\nYou never guess.\n", []string{"spec.yaml:20 (planner.system_prompt)"}},
		{"the node's own before another's", "executor", "You sometimes guess.\n", "You never guess.\n", []string{"spec.yaml:40 (executor.executor_system_prompt)"}},
		{"of another node the same", "planner", "You sometimes guess.\n", "You never guess.\n", []string{"spec.yaml:21 (planner.system_prompt)"}},
		{"indented, in a list", "planner", "  - search: Finds pages.\n", "  - search: Finds things on the net.\n", []string{"lib.yaml:3 (tools.search.description)"}},
		{"in a list, all new", "planner", "- calculator: Works out an expression.\n", "- calculator: Does sums.\n", []string{"lib.yaml:9 (tools.calculator.description)"}},
		{"in JSON", "", `  "description": "Finds pages."` + "\n", `  "description": "Finds things on the net."` + "\n", []string{"lib.yaml:3 (tools.search.description)"}},
		{"of a tool, though a parameter has the same", "", `  "type": "number"` + "\n", `  "type": "string"` + "\n", []string{"spec.yaml:30 (tools.refund.input_schema.type)"}},
		{"around a value", "planner", "You may take at most 3 steps.\n", "You may take 3 steps, no more.\n", []string{"prompts/plan.md:5 (planner.planner_prompt_template)"}},
		{"only the value", "planner", "You may take 3 steps, no more.\n", "You may take 4 steps, no more.\n", nil},
		{"a value that a text holds", "planner", "# Question\n\nAnswer in prose.\n", "# Question\n\nAnswer in verse.\n", []string{"spec.yaml:5 (parameters.style.default)"}},
		{"a short one beside its key", "planner", "  \"temperature\": 0.1\n", "  \"temperature\": 0.2\n", []string{"spec.yaml:9 (llms.main.temperature)"}},
		{"a dollar that is none", "planner", "Cost: $4\n", "Cost: $5\n", []string{"prompts/plan.md:9 (planner.planner_prompt_template)"}},
		{"a removed line: the lines around it", "planner", "# Question\n\nWhy?\n\nExplain.\nTools:\n- a\n", "# Question\n\nWhy?\n\nTools:\n- a\n", []string{"prompts/plan.md:6 (planner.planner_prompt_template)"}},
		{"words that were cut", "planner", "You never ever guess.\n", "You never guess.\n", []string{"spec.yaml:21 (planner.system_prompt)"}},
		{"two texts", "planner", "You never know.\n1\n2\n3\n- Finds pages.\n", "You never guess.\n1\n2\n3\n- Finds things on the net.\n", []string{"spec.yaml:21 (planner.system_prompt)", "lib.yaml:3 (tools.search.description)"}},
		{"one text twice", "planner", "x\ny\n", "You are a careful planner.\nYou never guess.\n", []string{"spec.yaml:20 (planner.system_prompt)"}},
		{"a flag", "planner", "3 is enough\n", "7 is enough\n", []string{"--set limits.max_steps=7 (limits.max_steps)"}},
		{"a word that happens to be in it", "planner", "Write as few things as the objective needs.\n", "Write as few steps as the objective needs.\n", nil},
		{"a new line with such a word", "planner", "", "Write as few steps as the objective needs.\n", nil},
		{"a word of a parameter", "planner", "Answer the person who asks in a kind tone.\n", "Answer the person who asks in a terse tone.\n", []string{"spec.yaml:7 (parameters.tone.default)"}},
		{"what a script replies", "planner", "", "Answer with one object of JSON.\n", nil},
		{"a new line before a long value", "finalizer", "", "Objective: find out why the build of the last week was slower than all before\n", []string{"spec.yaml:70 (finalizer.finalizer_prompt_template)"}},
		{"a new line after a value", "finalizer", "", "12 were taken\n", []string{"spec.yaml:71 (finalizer.finalizer_prompt_template)"}},
		{"not one of its lines", "finalizer", "", "12 were taken over\n", nil},
		{"built in", "reflector", "Decide.\n", "Look at what the steps gave\nand decide.\n", []string{"built in (reflector.reflect_prompt): pexctl's own text, not from the spec"}},
		{"a short value of a parameter", "executor", "Style: y\n", "Style: x\n", []string{"spec.yaml:80 (parameters.mood.default)"}},
		{"a short value of the case", "executor", "Ask in en only.\n", "Ask in de only.\n", []string{"tests/a/case.yaml (parameters.lang)"}},
		{"a value that is a line", "executor", "stay\n", "go on\n", []string{"spec.yaml:82 (parameters.motto.default)"}},
		{"a value of something else", "executor", "Style: y\n", "Style: z\n", nil},
		{"blanks at the end", "executor", "Keep still.\n", "Keep still. \n", []string{"exec.md:4 (executor.executor_prompt)"}},
		{"a new tool", "planner", "- a: b\n", "- a: b\n- clock: Tells the time and the day.\n", []string{"spec.yaml:90 (tools.clock)"}},
		{"a new tool in JSON", "", "[]\n", "[\n  {\n    \"name\": \"clock\",\n    \"input\": {\n      \"type\": \"string\"\n    }\n  }\n]\n", []string{"spec.yaml:90 (tools.clock)"}},
		{"a new tool in a list", "executor", "  \"tools\": [\n    \"a\"\n", "  \"tools\": [\n    \"a\",\n    \"clock\"\n", []string{"spec.yaml:90 (tools.clock)"}},
		{"pexctl's description of a tool", "planner", "- clock: Tells the time and the day.\n", "- clock: Tells the time and the week.\n", nil},

		{"unknown", "planner", "a\n", "zzz\n", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			for _, cause := range golden.Blame(spec, c.node, textdiff.Compare(c.before, c.after)) {
				got = append(got, cause.String())
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestBlameLimitsCauses(t *testing.T) {
	var sources []dsl.Source
	var after strings.Builder
	for i := range 400 {
		text := "text number " + strings.Repeat("x", i+1)
		sources = append(sources, dsl.Source{Path: "prompts." + text[12:], File: "spec.yaml", Line: i + 1, Text: text})
		after.WriteString(text + "\n")
	}
	if got := golden.Blame(sources, "", textdiff.Compare("", after.String())); len(got) != 5 || got[0].Line != 1 {
		t.Errorf("%d causes, the first %v", len(got), got[0])
	}
}
