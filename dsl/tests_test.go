package dsl_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/dsl/specfs"
	"github.com/pexctl/pex/dsl/testspec"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/exprenv"
	"github.com/pexctl/pex/engine/goldentest"
)

// TestTestsAndSuitesAreRead: the result has what is written, with defaults filled
// in.
func TestTestsAndSuitesAreRead(t *testing.T) {
	goldentest.Each(t, "../testdata/tests/*.txtar", func(t *testing.T, a *goldentest.Archive) {
		home, err := os.Getwd()
		if err != nil {
			t.Fatal(err)
		}
		o := unpack(t, a)
		path := directive(a, "load")
		var loaded any
		var found diag.List
		if kind, _ := specfs.Kind(path); kind == "Suite" || filepath.Base(path) == "." {
			loaded, found = dsl.LoadSuite(path, o)
		} else {
			loaded, found = dsl.LoadTests(path, o)
		}
		root, err := os.Getwd()
		if err != nil {
			t.Fatal(err)
		}
		t.Chdir(home)
		if len(found) > 0 {
			t.Fatal(found)
		}
		b, err := json.MarshalIndent(loaded, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		a.Want(t, "loaded", strings.ReplaceAll(string(b), root, "ROOT"))
	})
}

// inFolder runs a test in a temporary folder with files.
func inFolder(t *testing.T, files map[string]string) {
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

const agent = head + `parameters: {limit: {type: integer, default: 3}}
`

func options() dsl.Options { return dsl.Options{Catalog: catalog, Checks: checks} }

func TestChecksAreCompiled(t *testing.T) {
	inFolder(t, map[string]string{"spec.yaml": agent + `tests:
  - name: a
    parameters: {question: "why?"}
    run: {}
    expect: ['output contains "yes" and parameters.limit == 3']
    checks:
      - {type: contains, value: "because ${parameters.question}"}
      - {type: json_path, path: $.hits}
      - {type: json_schema, schema: {type: object}}
      - {type: equals, value: {n: "${parameters.limit}"}}
`})
	tests, found := dsl.LoadTests("spec.yaml", options())
	if len(found) > 0 {
		t.Fatal(found)
	}
	c := tests.Cases[0].Checks
	parameters := map[string]any{"question": "why?", "limit": 3}
	env := map[string]any{"output": "yes, it is", "parameters": parameters, "trace": exprenv.Trace{}}
	if ok, err := c[0].Config.(*exprConfig).That.Eval(env); !ok || err != nil {
		t.Error(ok, err)
	}
	lookup := func(ns, name string) (any, bool) { v, ok := parameters[name]; return v, ok && ns == "parameters" }
	if got := c[1].Config.(*containsConfig).Value.Render(lookup); got != "because why?" {
		t.Errorf("template: %q", got)
	}
	if got, err := c[2].Config.(*jsonPathConfig).Path.Apply(map[string]any{"hits": 3}); err != nil || len(got) != 1 || got[0] != 3 {
		t.Error(got, err)
	}
	if err := c[3].Config.(*jsonSchemaConfig).Schema.Validate([]any{}); err == nil {
		t.Error("the schema takes a list")
	}
	if diff := cmp.Diff(map[string]any{"n": 3}, c[4].Config.(*equalsConfig).Value.Render(lookup)); diff != "" {
		t.Error(diff)
	}
}

func TestRepliesUseTheScriptedProvider(t *testing.T) {
	inFolder(t, map[string]string{"spec.yaml": agent + `tests:
  - {name: a, parameters: {question: x}, run: {replies: [{when: call == 2, text: hello}]}}
`})
	tests, found := dsl.LoadTests(".", options())
	if len(found) > 0 {
		t.Fatal(found)
	}
	r := tests.Cases[0].Run.Replies.(*scriptedConfig).Replies
	if ok, err := r[0].When.Eval(map[string]any{"call": 2}); !ok || err != nil || r[0].Text != "hello" {
		t.Error(r, ok, err)
	}
}

// TestTestsDoNotChangeTheProgram: tests are in a spec, but the agent and the
// warnings of a resumed run do not depend on them.
func TestTestsDoNotChangeTheProgram(t *testing.T) {
	with := agent + `tests:
  - {name: a, parameters: {question: x}, run: {}, trajectory: {tools: [nothing_known]}}
`
	inFolder(t, map[string]string{"a/spec.yaml": agent, "b/spec.yaml": with})
	a, _, _ := dsl.Compile("a", options())
	b, _, found := dsl.Compile("b", options())
	if a == nil || b == nil || a.Digest != b.Digest {
		t.Fatalf("the programs differ: %v", found)
	}
	if len(found) != 1 || found[0].Code != diag.UnknownTool || found.Failed() {
		t.Errorf("found %v, want one warning", found)
	}
	if len(b.Warnings) > 0 {
		t.Errorf("the program warns of its tests: %v", b.Warnings)
	}
}

func TestBrokenTestStopsARun(t *testing.T) {
	inFolder(t, map[string]string{"spec.yaml": agent + "tests: [{name: a, rendr: planner}]\n"})
	p, _, found := dsl.Compile("spec.yaml", options())
	if p != nil || found.Errors() != 2 {
		t.Errorf("program %v, %s", p != nil, found)
	}
	if p, _, found := dsl.NewPrograms(options()).Compile("spec.yaml", nil); p == nil {
		t.Errorf("the program that tests are of does not compile: %s", found)
	}
}

func TestProgramsCompileOnce(t *testing.T) {
	inFolder(t, map[string]string{"spec.yaml": agent})
	o := options()
	o.Set = []string{"limits.max_steps=7"} // for the file that a command names
	programs := dsl.NewPrograms(o)
	a, _, _ := programs.Compile("spec.yaml", nil)
	b, _, _ := programs.Compile(".", nil)
	c, _, _ := programs.Compile("spec.yaml", []string{"limits.max_steps=5"})
	if a == nil || a != b || c == a || c.Limits.MaxSteps != 5 || a.Limits.MaxSteps != 20 {
		t.Errorf("a %p, b %p, c %+v", a, b, c)
	}
	if p, s, found := programs.Compile("none.yaml", nil); p != nil || s != nil || !found.Failed() {
		t.Error(p, s, found)
	}
}

func TestOverridesDoNotReachTests(t *testing.T) {
	inFolder(t, map[string]string{"spec.yaml": agent, "tests.yaml": "apiVersion: pex/v1\nkind: Tests\ntests: [{name: a, render: planner}]\n"})
	o := options()
	o.Set, o.Environ = []string{"nothing.like=it"}, []string{"PEX_SET_LIMITS__MAX_STEPS=many"}
	if _, found := dsl.LoadTests("tests.yaml", o); len(found) > 0 {
		t.Error(found)
	}
}

func TestWithoutChecksNoneExist(t *testing.T) {
	inFolder(t, map[string]string{"spec.yaml": agent + "tests: [{name: a, parameters: {question: x}, run: {}, expect: [true]}]\n"})
	o := options()
	o.Checks = component.Blueprints{}
	if _, found := dsl.LoadTests("spec.yaml", o); found.Errors() != 1 || found[0].Code != diag.UnknownType {
		t.Error(found)
	}
}

func TestCasesAndVariantsAreLimited(t *testing.T) {
	var cases, variants strings.Builder
	cases.WriteString(testsHead + "tests:\n")
	variants.WriteString(small + "variants:\n")
	for i := range 1001 {
		fmt.Fprintf(&cases, "  - {name: c%d, render: planner, set: {limits.max_steps: %d}}\n", i, i%3+1)
		fmt.Fprintf(&variants, "  v%d: {}\n", i)
	}
	inFolder(t, map[string]string{"spec.yaml": promptedAgent, "tests.yaml": cases.String(), "suite.yaml": variants.String(), "rubric.md": "x"})
	if _, found := dsl.LoadTests("tests.yaml", options()); found.Errors() != 1 || found[0].Code != diag.TooLarge {
		t.Error(found)
	}
	if _, found := dsl.LoadSuite("suite.yaml", options()); found.Errors() != 1 || found[0].Code != diag.TooLarge {
		t.Error(found)
	}
}

func TestSlug(t *testing.T) {
	for name, want := range map[string]string{
		"Finds the cause!": "finds-the-cause", "a/b\\c..d": "a-b-c-d", "--": "", "Größe 2": "größe-2", "../../etc": "etc",
		"AUX": "aux-", "console": "console", "com1": "com1-", strings.Repeat("x", 200): strings.Repeat("x", 200),
		strings.Repeat("x", 201): strings.Repeat("x", 191) + "-84a0678c", strings.Repeat("语", 100): strings.Repeat("语", 63) + "-1297256a",
	} {
		if got := testspec.Slug(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}
