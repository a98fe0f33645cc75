package main

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pexctl/pex/builtins/scaffold"
	samples "github.com/pexctl/pex/specs"
)

// tried runs pexctl and returns its output and its exit code.
func tried(t *testing.T, args ...string) (out, progress string, code int) {
	t.Helper()
	var o, e bytes.Buffer
	code = run(args, streams{strings.NewReader(""), &o, &e})
	return o.String(), e.String(), code
}

// wantOK checks that a command succeeds without a warning.
func wantOK(t *testing.T, args ...string) {
	t.Helper()
	out, progress, code := tried(t, args...)
	if code != 0 || strings.Contains(progress, "warning PEX") {
		t.Errorf("pexctl %s: exit %d\n%s%s", strings.Join(args, " "), code, out, progress)
	}
}

// wantGood checks that a project has no diagnostics, is formatted, and passes its
// tests, also with its real model.
func wantGood(t *testing.T, dir string) {
	t.Helper()
	spec := filepath.Join(dir, "spec.yaml")
	tests, err := filepath.Glob(filepath.Join(dir, "tests", "*.yaml"))
	if err != nil || len(tests) == 0 {
		t.Fatalf("tests of %s: %v %v", dir, tests, err)
	}
	wantOK(t, append([]string{"vet", dir, filepath.Join(dir, "suite.yaml")}, tests...)...)
	wantOK(t, "vet", dir, "--set", "planner.llm=live")
	wantOK(t, append([]string{"fmt", "--check"}, yamls(t, dir)...)...)
	wantOK(t, "test", dir)
	b, err := os.ReadFile(spec)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(spec, bytes.Replace(b, []byte("llm: demo"), []byte("llm: live"), 2), 0o644); err != nil {
		t.Fatal(err)
	}
	wantOK(t, "vet", dir)
	wantOK(t, "test", dir)
	if err := os.WriteFile(spec, b, 0o644); err != nil {
		t.Fatal(err)
	}
}

func yamls(t *testing.T, dir string) (out []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if filepath.Ext(path) == ".yaml" {
			out = append(out, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// subsets returns all subsets of the names, each joined by commas; the empty one
// comes first.
func subsets(names []string) []string {
	out := []string{""}
	for _, name := range names {
		for _, s := range out {
			out = append(out, strings.TrimPrefix(s+","+name, ","))
		}
	}
	return out
}

// TestEveryNewProjectIsValid creates a project for every choice of tools with one
// provider, and two for each other provider, on which the tools do not depend.
// With -short there are a few, each of which covers different code.
func TestEveryNewProjectIsValid(t *testing.T) {
	oneGoroutine(t)
	var answer, others []string
	for _, tool := range scaffold.Tools() {
		if tool.Demo {
			answer = append(answer, tool.Name)
		} else {
			others = append(others, tool.Name)
		}
	}
	sets, all := map[string][]string{}, strings.Join(scaffold.ToolNames(), ",")
	some := subsets(answer)[1:]
	for i, p := range scaffold.ProviderNames() {
		sets[p] = []string{some[i%len(some)], all}
	}
	first := scaffold.ProviderNames()[0]
	sets[first] = append(some, all)
	for _, more := range subsets(others)[1:] {
		sets[first] = append(sets[first], answer[0]+","+more)
	}
	if testing.Short() {
		sets = map[string][]string{first: {all, some[0]}}
	}
	for _, p := range scaffold.ProviderNames() {
		for _, tools := range sets[p] {
			t.Run(p+" "+tools, func(t *testing.T) {
				dir := filepath.Join(t.TempDir(), "agent")
				wantOK(t, "init", dir, "--yes", "--provider", p, "--tools", tools)
				wantGood(t, dir)
			})
		}
	}
}

// TestNewProjectsRunAndAreEvaluated runs and evaluates a project for each choice of
// tools that return something.
func TestNewProjectsRunAndAreEvaluated(t *testing.T) {
	for _, c := range []struct{ tools, answer string }{
		{"json_query,search_files,calculator", "2026-11-12, a Thursday, had the lowest sales: 188.45 EUR.\nThat is 55.2% below the average day of 420.20 EUR.\nAccording to notes.md, the espresso machine was down on 2026-11-12 from 8:10 to 13:30."},
		{"read_file,calculator", "2026-11-12, a Thursday, had the lowest sales: 188.45 EUR.\nThat is 55.2% below the average day of 420.20 EUR.\nAccording to notes.md, the espresso machine was down on 2026-11-12 from 8:10 to 13:30."},
		{"search_files,calculator", "188.45 EUR is 55.2% lower than 420.20 EUR.\nAccording to notes.md, the espresso machine was down on 2026-11-12 from 8:10 to 13:30."},
		{"search_files", "According to notes.md, the espresso machine was down on 2026-11-12 from 8:10 to 13:30."},
		{"calculator", "188.45 EUR is 55.2% lower than 420.20 EUR."},
		{strings.Join(scaffold.ToolNames(), ","), "2026-11-12, a Thursday, had the lowest sales: 188.45 EUR.\nThat is 55.2% below the average day of 420.20 EUR.\nAccording to notes.md, the espresso machine was down on 2026-11-12 from 8:10 to 13:30."},
	} {
		t.Run(c.tools, func(t *testing.T) {
			dir, home := filepath.Join(t.TempDir(), "agent"), t.TempDir()
			wantOK(t, "init", dir, "--yes", "--tools", c.tools)
			if got := printed(t, 0, "run", dir, "--home", home); got != c.answer+"\n" {
				t.Errorf("answered %q, want %q", got, c.answer)
			}
			wantOK(t, "eval", dir, "--home", home)
		})
	}
}

// TestInitQuotesAnswersForYAML uses names and texts with a special meaning in
// YAML, templates or Markdown.
func TestInitQuotesAnswersForYAML(t *testing.T) {
	oneGoroutine(t)
	for _, c := range []struct{ name, flag, text string }{
		{"a colon and a hash", "description", "Note: it answers # questions"},
		{"quotes", "description", `It says "yes" and it's 'no' {never} [x]`},
		{"references", "description", "costs ${parameters.x} and $<env.HOME> and $${y} {{.Name}}"},
		{"a boolean", "name", "true"},
		{"no word", "name", "null"},
		{"a boolean of old", "name", "No"},
		{"other letters", "description", "Beantwortet Fragen zu Umsätzen – 质问"},
		{"a model with a slash", "model", "openai/gpt-oss-120b:free"},
		{"a model that is a number", "model", "1e3"},
		{"a model that is a date", "model", "2026-11-22"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "agent")
			wantOK(t, "init", dir, "--yes", "--"+c.flag, c.text)
			wantGood(t, dir)
		})
	}
}

// TestInitWritesGoldensInCI checks that init creates golden files even in CI,
// where test --update refuses to write them.
func TestInitWritesGoldensInCI(t *testing.T) {
	t.Setenv("CI", "true")
	dir := filepath.Join(t.TempDir(), "agent")
	wantOK(t, "init", dir, "--yes")
	wantGood(t, dir)
}

// TestCopiedSamplesAreValid copies each sample and checks that it is valid there too.
func TestCopiedSamplesAreValid(t *testing.T) {
	oneGoroutine(t)
	here, err := filepath.Glob("../../specs/*/spec.yaml")
	if err != nil || len(here) != len(samples.List()) {
		t.Fatalf("specs/ has %d samples, new hands out %d: %v", len(here), len(samples.List()), err)
	}
	for _, s := range samples.List() {
		t.Run(s.Name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "elsewhere")
			wantOK(t, "new", s.Name, dir)
			wantOK(t, "vet", dir)
			wantOK(t, "test", dir)
			for _, path := range yamls(t, dir) {
				b, err := os.ReadFile(path)
				if err != nil || bytes.Contains(b, []byte("specs/"+s.Name)) {
					t.Errorf("%s names the place it came from (%v)", path, err)
				}
			}
			wantOK(t, "new", s.Name, dir, "--force")
		})
	}
}
