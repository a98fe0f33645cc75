package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"
)

// placed returns a request for the position of the mark ‸ in a file, and that
// position in UTF-16 units.
func placed(uri, marked string) (text, question string, line, character int) {
	before, after, _ := strings.Cut(marked, "‸")
	line = strings.Count(before, "\n")
	character = len(utf16.Encode([]rune(before[strings.LastIndex(before, "\n")+1:])))
	return before + after, fmt.Sprintf(`{"textDocument":{"uri":%q},"position":{"line":%d,"character":%d}}`, uri, line, character), line, character
}

const (
	specTop = "apiVersion: pex/v1\nkind: Agent\nmetadata: {name: x}\nparameters: {tier: {type: string, description: How good., default: gold}}\n" +
		"llms: {main: {provider: scripted, options: {replies: [{text: done}]}}}\n"
	withClock = specTop + "tools: {clock: {}, look-up: {type: builtin, use: clock}}\n"
	withTools = specTop + "tools:\n  clock: {}\n  refund:\n    type: command\n    effect: read\n    description: Pays back.\n    argv: [echo, '${args.order}']\n" +
		"    input_schema: {type: object, required: [order], properties: {order: {type: string, description: The number of the order.}, amount: {type: number}, mode: {enum: [full, part]}, to: {type: object, properties: {name: {type: string}}}}}\n" +
		"  add: {use: calculator}\n"
	suiteTop = "apiVersion: pex/v1\nkind: Suite\nmetadata: {name: x}\nspec: other.yaml\ndataset: {rows: [{id: a, topic: b}]}\n"
)

// TestEditorExplainsExpressions: in every expression of a spec, in any quotes,
// hover documents exactly the name at the cursor.
func TestEditorExplainsExpressions(t *testing.T) {
	cases := []struct{ name, text, marked, want string }{
		{"a guard", withClock + "guards:\n  - {name: g, at: after_step, do: stop, when: run.no_pro‸gress > 2}\n", "run.no_progress", "The number of consecutive steps that failed"},
		{"a guard in quotes", withClock + "guards:\n  - name: g\n    at: after_step\n    do: stop\n    when: 'step.goal == ''it'' && step.at‸tempts > 2'\n", "step.attempts", "The number of attempts."},
		{"a guard in double quotes", withClock + "guards:\n  - name: g\n    at: after_step\n    do: stop\n    when: \"step.goal == \\\"it\\\" && step.at‸tempts > 2\"\n", "step.attempts", "The number of attempts."},
		{"a guard on lines of its own", withClock + "guards:\n  - name: g\n    at: after_step\n    do: stop\n    when: |\n      run.tokens > 100 &&\n      step.att‸empts > 2\n", "step.attempts", "The number of attempts."},
		{"a guard on folded lines", withClock + "guards:\n  - name: g\n    at: after_step\n    do: stop\n    when: >-\n      len(plan.remaining) > 3\n      and any(plan.completed, .stat‸us == 'ok')\n", ".status", "One of `ok`, `failed`"},
		{"behind letters of two units", withClock + "guards:\n  - {name: g, at: after_step, do: stop, when: \"step.goal contains '😀é' and run.co‸st > 1\"}\n", "run.cost", "in USD"},
		{"a function", withClock + "guards:\n  - {name: g, at: after_step, do: stop, when: le‸n(plan.steps) > 2}\n", "len", "`len(value)`"},
		{"an operator", withClock + "guards:\n  - {name: g, at: after_step, do: stop, when: step.goal cont‸ains 'x'}\n", "contains", "True if the string contains the other."},
		{"a parameter", withClock + "guards:\n  - {name: g, at: after_step, do: stop, when: parameters.ti‸er == 'gold'}\n", "tier", "How good."},
		{"an edge", withClock + "graph:\n  nodes: [{id: p, type: planner}]\n  edges:\n    - {from: p, to: end, when: reply.res‸ult != ''}\n", "reply.result", "The answer in the reply."},
		{"the approval of a tool", specTop + "tools:\n  clock:\n    approval: tool.eff‸ect == 'write'\n", "tool.effect", "One of `read`, `idempotent`, `write`."},
		{"the approval of a plan", withClock + "planner: {approval: len(reply.st‸eps) > 3}\n", "reply.steps", "The goals of the planned steps"},
		{"what a step must meet", withClock + "executor: {verify: step.res‸ult != ''}\n", "step.result", "The result as text."},
		{"when the reflector is asked", withClock + "reflector: {strategy: adaptive, when: step.err‸or != ''}\n", "step.error", "The error."},
		{"what an answer must meet", withClock + "output:\n  schema: {type: object, properties: {title: {type: string}}}\n  ensures:\n    - output.ti‸tle != ''\n", "output.title", "a string"},
		{"compaction", withClock + "memory: {compaction: {sliding_window: {when: memory.to‸kens > 10}}}\n", "memory.tokens", "The estimated size of the request"},
		{"the condition of a scripted reply", strings.Replace(withClock, "{text: done}", "{text: done, when: ca‸ll == 1}", 1), "call", "an integer"},
		{"what a test expects", withClock + "tests:\n  - name: a\n    run: {replies: []}\n    expect:\n      - all(trace.calls, .sta‸tus == 'ok')\n", ".status", "One of `ok`, `error`"},
		{"a check of a suite", suiteTop + "checks: [case.top‸ic != '']\n", "case.topic", "any value"},
		{"a check that is written out", suiteTop + "checks: [{type: expr, that: trace.model_ca‸lls < 3}]\n", "trace.model_calls", "The number of model calls of the run."},
		{"a gate", suiteTop + "gates: [stats.pass_ra‸te > 0.9]\n", "stats.pass_rate", "from 0 to 1"},
		{"a gate over cases", suiteTop + "gates: [{each: case.fl‸aky == false}]\n", "case.flaky", "Whether some of its trials passed"},
		{"an argument", withTools + "guards:\n  - {name: g, at: before_tool, do: deny, when: 'tool.name == \"refund\" && tool.args.or‸der == \"17\"'}\n", "tool.args.order", "The number of the order."},
		{"an argument of a built-in tool", withTools + "guards:\n  - {name: g, at: before_tool, do: deny, when: 'tool.name == \"add\" && tool.args.expres‸sion contains \"1\"'}\n", "tool.args.expression", "An argument of add."},
		{"an argument of a call of the run", withTools + "guards:\n  - {name: g, at: after_step, do: stop, when: 'any(run.calls, .tool == \"refund\" && .args.am‸ount > 3)'}\n", ".args.amount", "a number"},
		{"an argument in a test", withTools + "tests:\n  - name: a\n    run: {replies: []}\n    expect:\n      - any(trace.calls, .tool == 'refund' && .args.mo‸de == 'full')\n", ".args.mode", "One of `full`, `part`."},
		{"a field of an argument", withTools + "guards:\n  - {name: g, at: before_tool, do: deny, when: 'tool.name == \"refund\" && tool.args.to.na‸me == \"x\"'}\n", "tool.args.to.name", "a string"},
		{"nothing of an argument that is not there", withTools + "guards:\n  - {name: g, at: before_tool, do: deny, when: 'tool.name == \"refund\" && tool.args.ordr‸e == \"17\"'}\n", "", ""},
		{"nothing in a text", withClock + "guards:\n  - {name: g, at: after_step, do: stop, when: step.goal == 'run.tok‸ens'}\n", "", ""},
		{"nothing of a name that is not there", withClock + "guards:\n  - {name: g, at: after_step, do: stop, when: run.tok‸ns > 1}\n", "", ""},
	}
	e := startEditor(t)
	for i, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			uri := "file://" + filepath.ToSlash(filepath.Join(t.TempDir(), "spec.yaml"))
			text, question, _, _ := placed(uri, c.text)
			e.open(uri, text, i)
			var got struct {
				Contents struct{ Value string }
				Range    struct{ Start, End struct{ Line, Character int } }
			}
			if err := json.Unmarshal(e.ask("textDocument/hover", question), &got); err != nil {
				t.Fatal(err)
			}
			if c.want == "" {
				if got.Contents.Value != "" {
					t.Errorf("it says %q", got.Contents.Value)
				}
				return
			}
			if !strings.Contains(got.Contents.Value, c.want) {
				t.Errorf("it says %q, want %q", got.Contents.Value, c.want)
			}
			line := utf16.Encode([]rune(strings.Split(text, "\n")[got.Range.Start.Line]))
			marked := string(utf16.Decode(line[got.Range.Start.Character:got.Range.End.Character]))
			last := c.marked[strings.LastIndex(c.marked, ".")+1:]
			if marked != last || !strings.Contains(got.Contents.Value, c.marked) {
				t.Errorf("%q is marked, want %q; it says %q", marked, last, got.Contents.Value)
			}
		})
	}
}

// TestEditorCompletesExpressions: the completions at the cursor start with these.
func TestEditorCompletesExpressions(t *testing.T) {
	guarded := func(when string) string {
		return withClock + "guards:\n  - name: g\n    at: before_tool\n    do: stop\n    when: " + when + "\n"
	}
	cases := []struct{ name, text, want, result string }{
		{"nothing is written yet", guarded("‸"), "parameters plan run step tool abs all", ""},
		{"behind an operator and a blank", guarded("run.tokens > 3 && ‸"), "parameters plan run step tool abs all", ""},
		{"behind a blank between braces", withClock + "guards:\n  - {name: g, at: before_tool, when: not ‸, do: stop}\n", "parameters plan run step tool abs all", ""},
		{"fields in quotes with doubled ones", guarded("'step.goal == ''a'' && plan.‸'"), "completed remaining steps version", "'step.goal == ''a'' && plan.completed'"},
		{"fields in double quotes", guarded(`"step.goal == \"a\" && plan.ve‸ > 2"`), "completed remaining steps version", `"step.goal == \"a\" && plan.completed > 2"`},
		{"fields on lines of their own", guarded("|\n      run.tokens > 3 &&\n      plan.‸"), "completed remaining steps version", "plan.completed"},
		{"fields behind letters of two units", guarded(`"step.goal == '😀' && plan.‸"`), "completed remaining steps version", `"step.goal == '😀' && plan.completed"`},
		{"fields of what a loop is over", guarded("any(plan.steps, .‸)"), "attempts error goal id", "any(plan.steps, .attempts)"},
		{"the words of a text", guarded("tool.effect == '‸'"), "read idempotent write", "tool.effect == 'read'"},
		{"the names of tools", guarded("tool.name == 'c‸'"), "clock look-up", "tool.name == 'clock'"},
		{"the words of an approval", specTop + "tools: {clock: {approval: ‸}}\n", "never always", ""},
		{"no words of an approval behind a condition", specTop + "tools: {clock: {approval: run.tokens > 3 or ‸}}\n", "parameters plan run", ""},
		{"tools that a name follows", withClock + "tests:\n  - name: a\n    run: {replies: []}\n    expect: [trace.tools.‸]\n", "clock", ""},
		{"fields of the answer", withClock + "output:\n  schema: {type: object, properties: {title: {type: string}}}\n  ensures: [output.‸]\n", "title", ""},
		{"the arguments of the tool that is named", withTools + "guards:\n  - {name: g, at: before_tool, do: deny, when: 'tool.name == \"refund\" && tool.args.‸'}\n", "amount mode order to", "tool.args.amount'}"},
		{"the arguments of all tools", withTools + "guards:\n  - {name: g, at: before_tool, do: deny, when: 'tool.args.‸'}\n", "amount expression mode order timezone to", ""},
		{"the arguments of the tool that has the approval", withTools + "  other: {use: calculator, approval: tool.args.‸}\n", "expression", ""},
		{"the words of an argument", withTools + "guards:\n  - {name: g, at: before_tool, do: deny, when: 'tool.name == \"refund\" && tool.args.mode == \"‸\"'}\n", "full part", ""},
		{"the arguments of calls in a test", withTools + "tests:\n  - name: a\n    run: {replies: []}\n    expect: ['any(trace.calls, .tool == \"refund\" && .args.‸)']\n", "amount mode order to", ""},
		{"a new item is an expression or a mapping", suiteTop + "gates:\n  - ‸\n", "baseline parameters stats", ""},
	}
	e := startEditor(t)
	for i, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			uri := "file://" + filepath.ToSlash(filepath.Join(t.TempDir(), "spec.yaml"))
			text, question, line, character := placed(uri, c.text)
			e.open(uri, text, i)
			var got struct {
				Items []struct {
					Label    string
					TextEdit struct {
						NewText string
						Range   struct{ Start, End struct{ Line, Character int } }
					}
				}
			}
			if err := json.Unmarshal(e.ask("textDocument/completion", question), &got); err != nil {
				t.Fatal(err)
			}
			var labels []string
			for _, it := range got.Items {
				labels = append(labels, it.Label)
				if r := it.TextEdit.Range; r.Start.Line != line || r.End.Line != line || r.Start.Character > character || r.End.Character < character {
					t.Fatalf("%s takes the place of %v, and the cursor is at %d:%d", it.Label, r, line, character)
				}
			}
			want := strings.Fields(c.want)
			first := labels[:min(len(labels), len(want))]
			if c.name == "the words of an approval" {
				first = labels[max(len(labels)-2, 0):]
			}
			if d := cmp.Diff(want, first); d != "" {
				t.Fatal(d, labels)
			}
			if c.result != "" {
				r := got.Items[0].TextEdit
				units := utf16.Encode([]rune(strings.Split(text, "\n")[line]))
				after := string(utf16.Decode(units[:r.Range.Start.Character])) + r.NewText + string(utf16.Decode(units[r.Range.End.Character:]))
				if !strings.HasSuffix(after, c.result) {
					t.Errorf("the line becomes %q, want %q", after, c.result)
				}
			}
		})
	}
}
