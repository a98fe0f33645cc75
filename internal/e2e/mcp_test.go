//go:build e2e && unix

package e2e_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/pexctl/pex/internal/e2e"
)

// toolCall is a call that the scripted model makes, and what is to come of it.
type toolCall struct {
	name, args   string
	status, want string // status "" = ok; want is a regexp of the result
}

// everything is what server-everything can do, one call each.
var everything = []toolCall{
	{name: "ev__echo", args: `{"message": "hi"}`, want: `Echo: hi`},
	{name: "ev__get-sum", args: `{"a": "2", "b": 3}`, want: `The sum of 2 and 3 is 5`},
	{name: "ev__get-structured-content", args: `{"location": "New York"}`, want: `"conditions":\s*"[A-Za-z /]+"`},
	{name: "ev__get-tiny-image", args: `{}`, want: `\[image image/png, [\d,]+ bytes\]`},
	{name: "ev__get-resource-links", args: `{"count": 2}`, want: `\[resource Text Resource 2 demo://resource/dynamic/text/2\]`},
	{name: "ev__get-resource-reference", args: `{"resourceType": "Text", "resourceId": 1}`, want: `This is a plaintext resource`},
	{name: "ev__get-annotated-message", args: `{"messageType": "error", "includeImage": false}`, want: `Error: Operation failed`},
	{name: "ev__trigger-long-running-operation", args: `{"duration": 1, "steps": 2}`, want: `completed`},
	{name: "ev__trigger-sampling-request", args: `{"prompt": "sample me", "maxTokens": 100}`, want: `said by an llm of the spec`},
	{name: "ev__get-roots-list", args: `{}`, want: `file:///`},
	{name: "ev__list_resources", args: `{}`, want: `demo://resource/static`},
	{name: "ev__read_resource", args: `{"uri": "demo://resource/dynamic/text/7"}`, want: `Resource 7`},
	{name: "ev__prompt_simple-prompt", args: `{}`, want: `simple prompt`},
	{name: "ev__prompt_args-prompt", args: `{"city": "Oslo"}`, want: `Oslo`},
	{name: "ev__get-sum", args: `{"a": "two", "b": 3}`, status: "error", want: `/a`},
	{name: "ev__trigger-long-running-operation", args: `{"duration": 60, "steps": 60}`, status: "timeout", want: `longer than 5s`},
	{name: "ev__echo", args: `{"message": "still there"}`, want: `still there`},
}

// TestE2EMCP is the tools of servers that others wrote, through pexctl.
func TestE2EMCP(t *testing.T) {
	program := e2e.Built(t, "cmd/pexctl")
	stdio := fmt.Sprintf("command: [%q]", e2e.MCPServer(t, "everything"))
	http := fmt.Sprintf("url: %q", e2e.MCPEverything(t))
	for _, test := range []struct {
		name string
		run  func(*testing.T, string)
	}{
		{"everything over stdio", func(t *testing.T, program string) { everythingWorks(t, program, stdio) }},
		{"everything over http", func(t *testing.T, program string) { everythingWorks(t, program, http) }},
		{"fifty calls at once over stdio", func(t *testing.T, program string) { fiftyAtOnce(t, program, stdio) }},
		{"fifty calls at once over http", func(t *testing.T, program string) { fiftyAtOnce(t, program, http) }},
		{"a killed server comes back", killedServer},
		{"elicitation waits for a person", elicitation},
		{"memory keeps what it is told", memoryKeeps},
		{"specs/mcp-files", filesSpec},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(t, program) })
	}
}

// everythingWorks makes all calls, one after another, in one run.
func everythingWorks(t *testing.T, program, where string) {
	r := newRunner(t, program, where, everything)
	got := r.run(t, 0)
	r.check(t, got, everything)
}

// fiftyAtOnce makes fifty calls in two turns: each turn's go side by side and
// come back in order.
func fiftyAtOnce(t *testing.T, program, where string) {
	var all []toolCall
	for i := range 50 {
		all = append(all, toolCall{name: "ev__echo", args: fmt.Sprintf(`{"message": "number %d"}`, i), want: fmt.Sprintf(`Echo: number %d"?$`, i)})
	}
	r := newRunner(t, program, where, all[:25], all[25:])
	r.check(t, r.run(t, 0), all)
}

// killedServer kills the server in the middle of a run: the next call starts it
// again.
func killedServer(t *testing.T, program string) {
	kill := toolCall{name: "kill", args: `{}`, want: `killed`}
	calls := []toolCall{everything[0], kill, everything[1]}
	r := newRunner(t, program, fmt.Sprintf("command: [%q]", e2e.MCPServer(t, "everything")), calls[:1], calls[1:2], calls[2:])
	r.check(t, r.run(t, 0), calls)
}

// elicitation parks the run when the server asks a person; another process has
// the answer.
func elicitation(t *testing.T, program string) {
	ask := toolCall{name: "ev__trigger-elicitation-request", args: `{}`, want: `Ada`}
	r := newRunner(t, program, fmt.Sprintf("command: [%q]", e2e.MCPServer(t, "everything")), []toolCall{ask})
	waiting := r.run(t, 5)
	if len(waiting.Interrupts) != 1 || waiting.Interrupts[0].Kind != "elicitation" {
		t.Fatalf("interrupts: %+v", waiting.Interrupts)
	}
	got := r.pexctl(t, 0, "resume", "r", "--answer", waiting.Interrupts[0].Path+`=edit:{"name": "Ada", "check": true}`)
	r.check(t, got, []toolCall{ask})
}

// memoryKeeps tells server-memory something in one run and asks in the next.
func memoryKeeps(t *testing.T, program string) {
	file := filepath.Join(t.TempDir(), "memory.json")
	where := fmt.Sprintf("command: [%q], env: {MEMORY_FILE_PATH: %q}", e2e.MCPServer(t, "memory"), file)
	for _, c := range []toolCall{
		{name: "ev__create_entities", args: `{"entities": [{"name": "Ada", "entityType": "person", "observations": ["likes tea"]}]}`, want: `likes tea`},
		{name: "ev__search_nodes", args: `{"query": "tea"}`, want: `Ada`},
	} {
		r := newRunner(t, program, where, []toolCall{c})
		r.check(t, r.run(t, 0), []toolCall{c})
	}
}

// filesSpec does what the README of specs/mcp-files does, with npx.
func filesSpec(t *testing.T, program string) {
	r := &runner{program: program, dir: t.TempDir()}
	if err := os.CopyFS(r.dir, os.DirFS("../../specs/mcp-files")); err != nil {
		t.Fatal(err)
	}
	r.run(t, 5)
	got := r.pexctl(t, 0, "resume", "r", "--answer", "step.s3/turn.1/tool.0.approval=approve")
	if !strings.Contains(got.Response, "Four promises are open") {
		t.Errorf("answer: %s", got.Response)
	}
	text, err := os.ReadFile(filepath.Join(r.dir, "data", "open-promises.md"))
	if err != nil || !bytes.Contains(text, []byte("load test")) {
		t.Errorf("the file: %v\n%s", err, text)
	}
}

// TestE2EMCPConformance runs the protocol's own suite for clients: the core of all
// revisions, and all that the current revision requires. The suite also runs
// scenarios of optional extensions, which it does not score.
func TestE2EMCPConformance(t *testing.T) {
	client := e2e.Built(t, "internal/e2e/mcpclient")
	for _, test := range []struct {
		name      string
		scenarios []string
		required  int
	}{
		{"core", []string{"--suite", "core"}, 18},
		{"required by 2026-07-28", []string{"--requirements", "2026-07-28"}, 32},
	} {
		t.Run(test.name, func(t *testing.T) {
			printed := e2e.Conformance(t, client, test.scenarios...)
			_, summary, _ := strings.Cut(printed, "=== SUITE SUMMARY ===")
			t.Log(summary)
			scored, unscored, _ := strings.Cut(summary, "Not scored for ")
			passed, failed := strings.Count(scored, "✓"), strings.Count(scored, "✗")-strings.Count(unscored, "✗")
			if passed-strings.Count(unscored, "✓") != test.required || failed != 0 {
				t.Errorf("%d scenarios passed and %d failed, want %d and 0\n%s", passed, failed, test.required, printed)
			}
		})
	}
}

// runner runs a spec with one server by the real pexctl.
type runner struct{ program, dir string }

// result is as much of a run as these tests look at.
type result struct {
	Response string `json:"response"`
	Steps    []struct {
		ToolCalls []struct {
			Tool   string          `json:"tool"`
			Status string          `json:"status"`
			Result json.RawMessage `json:"result"`
		} `json:"tool_calls"`
	} `json:"steps"`
	Interrupts []struct{ Path, Kind string } `json:"interrupts"`
}

// killer ends the server that pexctl, its parent, has started, and leaves it time
// to notice.
const killer = `for p in $(ps -o pid= --ppid $PPID); do if tr '\0' ' ' < /proc/$p/cmdline | grep -q '[s]erver-everything'; then kill -9 $p && sleep 0.5 && echo killed; fi; done`

// newRunner writes a spec whose one step makes calls, turn by turn; those of a
// single turn are made one after another.
func newRunner(t *testing.T, program, where string, turns ...[]toolCall) *runner {
	t.Helper()
	type call struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	}
	type reply map[string]any
	replies := []reply{
		{"role": "planner", "text": `{"steps": ["Call them"], "result": ""}`},
		{"role": "reflector", "text": `{"steps": [], "result": "done"}`, "times": 0},
		{"when": `prompt contains "sample me" && not (prompt contains "Call them")`, "text": "said by an llm of the spec"},
	}
	for i, turn := range turns {
		var calls []call
		for _, c := range turn {
			calls = append(calls, call{c.name, json.RawMessage(c.args)})
		}
		replies = append(replies, reply{"role": "executor", "when": fmt.Sprintf("call == %d", i+1), "tool_calls": calls})
	}
	script, err := json.Marshal(append(replies, reply{"role": "executor", "text": "All were called.", "times": 0}))
	if err != nil {
		t.Fatal(err)
	}
	r := &runner{program: program, dir: t.TempDir()}
	spec := fmt.Sprintf(`
apiVersion: pex/v1
kind: Agent
metadata: {name: servers}
parameters: {question: {type: string, default: Call them.}}
llms: {main: {provider: scripted, options: {replies: %s}}}
tools:
  ev:
    type: mcp
    %s
    effect: read
    timeout: 5s
    sampling: {}
    roots: [.]
    resources: true
    prompts: ["*"]
    overrides: {trigger-elicitation-request: {effect: read}}
  kill: {type: command, argv: [sh, -c, %q], approval: never}
planner: {llm: main}
executor: {parallel_tool_calls: %v}
`, script, strings.ReplaceAll(where, ", env:", "\n    env:"), killer, len(turns) > 1)
	if err := os.WriteFile(filepath.Join(r.dir, "spec.yaml"), []byte(spec), 0o600); err != nil {
		t.Fatal(err)
	}
	return r
}

func (r *runner) run(t *testing.T, exit int) result {
	t.Helper()
	return r.pexctl(t, exit, "run", r.dir, "--run-id", "r")
}

func (r *runner) pexctl(t *testing.T, exit int, args ...string) (got result) {
	t.Helper()
	c := exec.CommandContext(t.Context(), r.program, append(args, "-o", "json", "--home", filepath.Join(r.dir, "home"))...)
	var stderr bytes.Buffer
	c.Stderr = &stderr
	out, err := c.Output()
	if bad := new(exec.ExitError); err != nil && !errors.As(err, &bad) {
		t.Fatal(err)
	}
	if code := c.ProcessState.ExitCode(); code != exit {
		t.Fatalf("exit %d, want %d\n%s%s", code, exit, out, stderr.String())
	}
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return got
}

func (r *runner) check(t *testing.T, got result, want []toolCall) {
	t.Helper()
	if len(got.Steps) != 1 || len(got.Steps[0].ToolCalls) != len(want) {
		t.Fatalf("steps: %+v, want one with %d calls", got.Steps, len(want))
	}
	for i, c := range got.Steps[0].ToolCalls {
		status := want[i].status
		if status == "" {
			status = "ok"
		}
		if c.Tool != want[i].name || c.Status != status || !regexp.MustCompile(want[i].want).Match(c.Result) {
			t.Errorf("call %d: %s %s %s, want %s %s %s", i, c.Tool, c.Status, c.Result, want[i].name, status, want[i].want)
		}
	}
}
