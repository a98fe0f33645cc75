package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/pexctl/pex/cmd/pexctl/speccmd"
	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/dsl/specfs"
	"github.com/pexctl/pex/engine/goldentest"
)

// diffed returns what a comparison prints, on stdout or, if that is empty, on
// stderr.
func diffed(t *testing.T, want int, args ...string) string {
	t.Helper()
	var out, said bytes.Buffer
	code := run(append([]string{"diff"}, args...), streams{strings.NewReader(""), &out, &said})
	if code != want {
		t.Fatalf("diff %v: exit %d, want %d\n%s%s", args, code, want, out.String(), said.String())
	}
	if out.Len() == 0 {
		return said.String()
	}
	return out.String()
}

// TestDiff compares old/ and new/ of each archive of testdata/diff, in each
// format.
func TestDiff(t *testing.T) {
	oneGoroutine(t)
	goldentest.Each(t, "../../testdata/diff/*.txtar", func(t *testing.T, a *goldentest.Archive) {
		home, err := os.Getwd()
		if err != nil {
			t.Fatal(err)
		}
		t.Chdir(t.TempDir())
		a.Extract(t, ".")
		got := map[string]string{}
		for _, format := range []string{"text", "markdown", "json"} {
			got[format] = diffed(t, 0, "old", "new", "-o", format, "--context", "8000")
		}
		back := diffed(t, 0, "new", "old", "-o", "json")
		t.Chdir(home)
		for _, format := range []string{"text", "markdown", "json"} {
			a.Want(t, format, got[format])
		}
		if stateOf(t, got["json"]) != stateOf(t, back) {
			t.Error("there and back is not the same: one of the two says that nothing differs")
		}
	})
}

func stateOf(t *testing.T, report string) string {
	t.Helper()
	var d speccmd.SpecDiff
	if err := json.Unmarshal([]byte(report), &d); err != nil {
		t.Fatal(err)
	}
	return d.State
}

// specsOfTheHouse returns the agents of the repository that compile unchanged.
func specsOfTheHouse(t *testing.T) []string {
	t.Helper()
	var out []string
	for _, root := range []string{"../../specs", "../../testdata", "../../docs"} {
		err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() || filepath.Ext(path) != ".yaml" {
				return err
			}
			if kind, _ := specfs.Kind(path); kind != "Agent" {
				return nil
			}
			if _, found := dsl.Load(path, dsl.Options{Catalog: components().Catalog, Checks: components().Checks.Blueprints("check")}); !found.Failed() {
				out = append(out, path)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(out) < 5 {
		t.Fatalf("only %v", out)
	}
	return out
}

func TestSpecEqualsItself(t *testing.T) {
	oneGoroutine(t)
	for _, path := range specsOfTheHouse(t) {
		if got := stateOf(t, diffed(t, 0, path, path, "-o", "json")); got != "same" {
			t.Errorf("%s: %s", path, got)
		}
	}
}

func TestDiffIgnoresFormatting(t *testing.T) {
	oneGoroutine(t)
	specs, err := filepath.Glob("../../specs/*/spec.yaml")
	if err != nil || len(specs) == 0 {
		t.Fatal(specs, err)
	}
	for _, path := range specs {
		dir := t.TempDir()
		if err := os.CopyFS(dir, os.DirFS(filepath.Dir(path))); err != nil {
			t.Fatal(err)
		}
		copied := filepath.Join(dir, "spec.yaml")
		text, err := os.ReadFile(copied)
		if err != nil {
			t.Fatal(err)
		}
		untidy := "# a comment\n\n" + strings.ReplaceAll(string(text), "\nlimits:", "\n\n# another\nlimits:")
		if err := os.WriteFile(copied, []byte(untidy), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := stateOf(t, diffed(t, 0, path, copied, "-o", "json")); got != "same" {
			t.Errorf("%s with comments: %s", path, got)
		}
		if out := printed(t, 0, "fmt", copied); out != "" {
			t.Log(out)
		}
		if got := stateOf(t, diffed(t, 0, path, copied, "-o", "json")); got != "same" {
			t.Errorf("%s formatted: %s", path, got)
		}
	}
}

// TestDiffReportsEveryChange changes one line at a time, and checks that the change is
// reported with its path.
func TestDiffReportsEveryChange(t *testing.T) {
	const spec = `apiVersion: pex/v1
kind: Agent
metadata: {name: a}
parameters: {region: {type: string, default: eu}}
llms: {main: {provider: scripted, temperature: 0.5, max_output_tokens: 10}}
tools: {clock: {timezone: UTC}, read_file: {root: .}}
planner: {plan_format: list, system_prompt: 'For ${parameters.region}'}
executor: {mode: function_calling, tools: [clock]}
reflector: {strategy: per_step}
finalizer: {reserve_tokens: 100}
limits: {max_steps: 5}
guards: [{name: g, at: after_step, when: run.tokens > 5, do: stop}]
output: {schema: {type: object, properties: {n: {type: integer}}}, ensures: [output.n > 1]}
memory: {history: false, compaction: {truncate_tool_output: {when: memory.tokens > 10}}}
inject_datetime: false
`
	tests := []struct{ name, from, to, path string }{
		{"name", "name: a", "name: b", "metadata.name"},
		{"default of an input", "default: eu", "default: us", "parameters.region.default"},
		{"temperature", "temperature: 0.5", "temperature: 0.6", "llms.main.temperature"},
		{"bound of a reply", "max_output_tokens: 10", "max_output_tokens: 11", "llms.main.max_output_tokens"},
		{"setting of a tool", "timezone: UTC", "timezone: Europe/Paris", "tools.clock.timezone"},
		{"folder of a tool", "root: .", "root: data", "tools.read_file.root"},
		{"format of plans", "plan_format: list", "plan_format: dag", "planner.plan_format"},
		{"prompt", "'For ", "'By ", "planner.system_prompt"},
		{"mode", "function_calling", "react_text", "executor.mode"},
		{"granted tools", "tools: [clock]", "tools: [clock, read_file]", "executor.tools"},
		{"strategy", "per_step", "batch", "reflector.strategy"},
		{"reserve", "reserve_tokens: 100", "reserve_tokens: 101", "finalizer.reserve_tokens"},
		{"limit", "max_steps: 5", "max_steps: 6", "limits.max_steps"},
		{"guard", "do: stop", "do: fail", "guards.g.do"},
		{"condition of a guard", "run.tokens > 5", "run.tokens > 6", "guards.g.when"},
		{"type of a field", "type: integer", "type: number", "output.n.type"},
		{"condition of an answer", "output.n > 1", "output.n > 2", "output.ensures"},
		{"memory", "history: false", "history: true", "memory.history"},
		{"time in prompts", "inject_datetime: false", "inject_datetime: true", "inject_datetime"},
	}
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "data"), 0o700); err != nil {
		t.Fatal(err)
	}
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	before := write("old.yaml", spec)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if strings.Count(spec, tt.from) != 1 {
				t.Fatalf("%q stands there %d times", tt.from, strings.Count(spec, tt.from))
			}
			var d speccmd.SpecDiff
			out := diffed(t, 0, before, write("new.yaml", strings.Replace(spec, tt.from, tt.to, 1)), "-o", "json")
			if err := json.Unmarshal([]byte(out), &d); err != nil {
				t.Fatal(err)
			}
			for _, s := range d.Sections {
				for _, x := range s.Changes {
					if x.Path == tt.path && strings.Contains(x.At, "new.yaml:") {
						return
					}
				}
			}
			t.Errorf("%s is not told of: %s", tt.path, out)
		})
	}
}

// TestDiffIgnoresAnExplicitDefaultPrompt writes the planner's own prompt to a spec: that is
// not a difference, and if one word of it changes, only the word is reported.
func TestDiffIgnoresAnExplicitDefaultPrompt(t *testing.T) {
	text, err := os.ReadFile("../../builtins/node/prompt/planner_prompt.md")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	const head = "apiVersion: pex/v1\nkind: Agent\nmetadata: {name: a}\nllms: {main: {provider: scripted}}\n"
	const graph = "graph: {nodes: [{id: p, type: planner%s}, {id: e, type: executor}, {id: f, type: finalizer}], edges: [{from: p, to: e}, {from: e, to: f}, {from: f, to: end}]}\n"
	for name, body := range map[string]string{
		"bare.yaml":  head,
		"full.yaml":  head + "planner: {planner_prompt: {file: plan.md}}\n",
		"other.yaml": head + "planner: {planner_prompt: {file: other.md}}\n",
		"role.yaml":  head + "planner: {planner_prompt: {file: other.md}}\n" + fmt.Sprintf(graph, ""),
		"node.yaml":  head + "planner: {planner_prompt: {file: other.md}}\n" + fmt.Sprintf(graph, ", planner_prompt: {file: other.md}"),
		"plan.md":    string(text),
		"other.md":   strings.Replace(string(text), "plan", "scheme", 1),
		"pex.lock":   "",
	} {
		if err := os.WriteFile(name, []byte(body), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, same := range [][2]string{{"bare.yaml", "full.yaml"}, {"full.yaml", "bare.yaml"}, {"role.yaml", "node.yaml"}, {"node.yaml", "role.yaml"}} {
		if got := diffed(t, 0, same[0], same[1]); !strings.Contains(got, "no differences in behavior") {
			t.Errorf("%v: %s", same, got)
		}
	}
	for _, pair := range [][2]string{{"bare.yaml", "other.yaml"}, {"other.yaml", "bare.yaml"}} {
		got := diffed(t, 0, pair[0], pair[1])
		if strings.Count(got, "\n      -") != 1 || strings.Count(got, "\n      +") != 1 || !strings.Contains(got, "the default") {
			t.Errorf("%v: one sentence changed, but the diff is:\n%s", pair, got)
		}
	}
}

// TestDiffCommentHasAMaximumLength compares specs with more differences than fit into a
// comment.
func TestDiffCommentHasAMaximumLength(t *testing.T) {
	oneGoroutine(t)
	t.Chdir(t.TempDir())
	spec := func(name, word string) {
		var b strings.Builder
		b.WriteString("apiVersion: pex/v1\nkind: Agent\nmetadata: {name: big}\nllms:\n")
		for i := range 60 {
			fmt.Fprintf(&b, "  m%d:\n    provider: scripted\n    system_prompt: |\n%s", i, strings.Repeat("      "+strings.Repeat(word+" ```é ", 12)+"\n", 40))
		}
		b.WriteString("planner: {llm: m0}\n")
		if err := os.WriteFile(name, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	spec("old.yaml", "one")
	spec("new.yaml", "two")
	out := diffed(t, 0, "old.yaml", "new.yaml", "-o", "markdown")
	if n := utf8.RuneCountInString(out); n > speccmd.CommentMost || n < speccmd.CommentMost/2 {
		t.Errorf("%d characters", n)
	}
	if !strings.Contains(out, "parts omitted to keep the comment short") {
		t.Errorf("the omission is not mentioned: …%s", out[len(out)-200:])
	}
	if open, closed := strings.Count(out, "<details>"), strings.Count(out, "</details>"); open != closed {
		t.Errorf("%d parts open and %d close", open, closed)
	}
}
