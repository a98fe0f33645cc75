package dsl_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/exprenv"
	"github.com/pexctl/pex/engine/goldentest"
)

func TestCompile(t *testing.T) {
	goldentest.Each(t, "../testdata/compile/*.txtar", func(t *testing.T, a *goldentest.Archive) {
		home, err := os.Getwd()
		if err != nil {
			t.Fatal(err)
		}
		o := unpack(t, a)
		p, s, found := dsl.Compile("spec.yaml", o)
		var again *engine.Program
		if p != nil {
			for _, f := range s.Files { // a resolved spec needs none of its files
				if err := os.Remove(f); err != nil && !os.IsNotExist(err) {
					t.Fatal(err)
				}
			}
			again, _ = dsl.Recompile(p.Source, s.Dir, dsl.Options{Catalog: catalog, Root: s.Root})
		}
		t.Chdir(home)
		a.Want(t, "diagnostics", found.String())
		if p == nil {
			t.Fatal("it does not compile")
		}
		a.Want(t, "program", show(t, p))
		if again == nil {
			t.Fatal("its source does not compile again")
		}
		if d := cmp.Diff(show(t, p), show(t, again)); d != "" || p.Digest != again.Digest {
			t.Errorf("compiled again it differs: %s", d)
		}
	})
}

// show formats the relevant parts of a program.
func show(t *testing.T, p *engine.Program) string {
	t.Helper()
	var b strings.Builder
	b.WriteString(p.Graph.Mermaid())
	var source bytes.Buffer
	if err := json.Indent(&source, p.Source, "", "  "); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(&b, "source %s\n", source.String())
	for _, x := range p.Parameters {
		fmt.Fprintf(&b, "parameter %s required=%t default=%v %s\n", x.Name, x.Required, x.Default, x.Schema)
	}
	for _, m := range p.Models {
		fmt.Fprintf(&b, "llm %s provider=%s params=%s timeout=%s attempts=%d fallback=%v\n", m.Name, m.Provider, inJSON(t, m.Params), m.Timeout, m.Retry.MaxAttempts, m.Fallback)
	}
	for _, x := range p.Tools {
		fmt.Fprintf(&b, "tool %s type=%s effect=%s approval=%q timeout=%s with=%d filter=%s\n", x.Name, x.Type, x.Effect, x.Approval, x.Timeout, len(x.With), x.OutputFilter.Source)
	}
	for _, g := range p.Guards {
		fmt.Fprintf(&b, "guard %s %s %s: %s\n", g.Name, g.At, g.Do, g.When)
	}
	for _, id := range []string{"planner", "executor", "reflector", "finalizer"} {
		if n, ok := p.Nodes[id].(interface{ built() fakeNode }); ok {
			fmt.Fprintf(&b, "node %s take=%s\n", id, n.built().settings.Batch)
		}
	}
	fmt.Fprintf(&b, "limits %s\n", inJSON(t, p.Limits))
	return b.String()
}

func inJSON(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// configOf returns the Config from which a node of these tests was built.
func configOf[C any](t *testing.T, p *engine.Program, id string) *C {
	t.Helper()
	n, ok := p.Nodes[id].(interface{ built() fakeNode })
	if !ok {
		t.Fatalf("undefined node %s", id)
	}
	return n.built().config.(*C)
}

// write creates files in a temporary folder and changes to it.
func write(t *testing.T, files map[string]string) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, text := range files {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

const head = "apiVersion: pex/v1\nkind: Agent\nmetadata: {name: demo}\nllms:\n  main: {provider: scripted}\n"

// compiled compiles a spec that must be valid.
func compiled(t *testing.T, spec string) *engine.Program {
	t.Helper()
	write(t, map[string]string{"spec.yaml": spec})
	p, _, found := dsl.Compile(".", dsl.Options{Catalog: catalog})
	if p == nil {
		t.Fatalf("it does not compile:\n%s", found)
	}
	return p
}

func TestContractSpecsCompile(t *testing.T) {
	specs, err := filepath.Glob("../testdata/contract/*/spec.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range specs {
		t.Run(filepath.Base(filepath.Dir(path)), func(t *testing.T) {
			p, s, found := dsl.Compile(path, dsl.Options{Catalog: catalog})
			if strings.Contains(path, "vet-errors") {
				lines := []int{}
				for _, d := range found {
					lines = append(lines, d.Line)
				}
				if d := cmp.Diff([]int{7, 9, 10, 11, 13}, lines); d != "" || found.Errors() != 5 {
					t.Errorf("%s\n%s", d, found)
				}
				return
			}
			if p == nil {
				t.Fatal(found)
			}
			again, found := dsl.Recompile(p.Source, s.Dir, dsl.Options{Catalog: catalog})
			if again == nil || again.Digest != p.Digest {
				t.Errorf("compiled again it differs: %s", found)
			}
		})
	}
}

func TestReferencesAreBound(t *testing.T) {
	p := compiled(t, head+`
parameters:
  who: {type: string, default: pilots}
planner:
  planner_prompt_template: "For ${parameters.who}: ${parameters.question}"
  approval: run.tokens > 5
output:
  schema: {type: object, required: [n]}
  ensures: [output.n > 0]
tools:
  web: {type: http, effect: read, url: "https://example.com/${args.id}", output_filter: $.hits, with: {n: 3, q: "${parameters.who}"}}
`)
	lookup := func(_, name string) (any, bool) {
		v, ok := map[string]any{"who": "pilots", "question": "rain?", "id": 7}[name]
		return v, ok
	}
	planner := configOf[plannerConfig](t, p, "planner")
	if got := strings.Join(planner.Template.Render(lookup), ""); got != "For pilots: rain?" {
		t.Errorf("the prompt is %q", got)
	}
	if !planner.Template.Uses("parameters.who") || planner.Template.Uses("parameters.steps") {
		t.Error("the prompt's names are not known")
	}
	if ok, err := planner.Approval.Eval(map[string]any{"run": exprenv.Run{Tokens: 6}}); !ok || err != nil {
		t.Errorf("the approval gives %t, %v", ok, err)
	}
	if err := p.Output.Schema.Validate(map[string]any{}); err == nil {
		t.Error("the schema takes anything")
	}
	if ok, err := p.Output.Ensures[0].Eval(map[string]any{"output": map[string]any{"n": json.Number("2")}}); !ok || err != nil {
		t.Errorf("the condition gives %t, %v", ok, err)
	}
	tool := p.Tools[0]
	url := tool.Config.(*httpConfig).URL
	if got := url.Render(lookup); got != "https://example.com/7" {
		t.Errorf("the url is %q", got)
	}
	if got, err := tool.OutputFilter.Apply(map[string]any{"hits": "x"}); err != nil || len(got) != 1 || got[0] != "x" {
		t.Errorf("the filter gives %v, %v", got, err)
	}
	if tool.With[0].Value.Render(lookup) != json.Number("3") || tool.With[1].Value.Render(lookup) != "pilots" {
		t.Errorf("with is %v", tool.With)
	}
	reflector := configOf[reflectorConfig](t, p, "reflector")
	if got := reflector.Template.Render(func(_, name string) (any, bool) { return name, true }); strings.Join(got, "") != "completed_steps" {
		t.Errorf("a default prompt renders %q", got)
	}
}

func TestModelsOfRoles(t *testing.T) {
	p := compiled(t, `
apiVersion: pex/v1
kind: Agent
metadata: {name: demo}
llms:
  strong: {provider: openai, model: big, temperature: 0.5, retry: {max_attempts: 5}, options: {reasoning_effort: high}}
  weak: {provider: scripted}
planner: {llm: strong, temperature: 0, retry: {jitter: false}}
executor: {llm: weak}
finalizer: {provider: openai, model: small}
`)
	want := map[string]string{"planner": "strong+planner", "executor": "weak", "reflector": "strong", "finalizer": "finalizer"}
	got := map[string]string{
		"planner": configOf[plannerConfig](t, p, "planner").LLM.Name, "executor": configOf[executorConfig](t, p, "executor").LLM.Name,
		"reflector": configOf[reflectorConfig](t, p, "reflector").LLM.Name, "finalizer": configOf[finalizerConfig](t, p, "finalizer").LLM.Name,
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	for _, m := range p.Models {
		if m.Name == "strong+planner" {
			if *m.Params.Temperature != 0 || m.Params.Model != "big" || m.Retry.MaxAttempts != 5 || m.Retry.Jitter {
				t.Errorf("the planner's llm is %+v", m)
			}
			if m.Config.(*openaiConfig).ReasoningEffort != "high" {
				t.Error("the planner's llm lost its options")
			}
			return
		}
	}
	t.Error("the planner has no llm of its own")
}

func TestRepairsOfAnAnswer(t *testing.T) {
	for spec, want := range map[string]int{"{}": 2, "{repair: {}}": 2, "{repair: {max_attempts: 0}}": 0, "{repair: {max_attempts: 5}}": 5} {
		if p := compiled(t, head+"output: "+spec+"\n"); p.Output.MaxAttempts != want {
			t.Errorf("%s: %d attempts", spec, p.Output.MaxAttempts)
		}
	}
}

func BenchmarkCompile(b *testing.B) {
	for b.Loop() {
		if p, _, found := dsl.Compile("../testdata/contract/deny", dsl.Options{Catalog: catalog}); p == nil {
			b.Fatal(found)
		}
	}
}
