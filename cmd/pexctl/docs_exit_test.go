package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/cmd/pexctl/docscmd"
	"github.com/pexctl/pex/engine"
)

// constantsOf returns the values of the constants in a file with this type or
// name prefix.
func constantsOf(t *testing.T, path, typ, prefix string) []string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	ast.Inspect(file, func(n ast.Node) bool {
		v, ok := n.(*ast.ValueSpec)
		if !ok || len(v.Values) != 1 {
			return true
		}
		name, _ := v.Type.(*ast.Ident)
		if typ != "" && name != nil && name.Name == typ || prefix != "" && strings.HasPrefix(v.Names[0].Name, prefix) {
			if lit, ok := v.Values[0].(*ast.BasicLit); ok {
				out = append(out, strings.Trim(lit.Value, `"`))
			}
		}
		return true
	})
	slices.Sort(out)
	return out
}

func TestExitPageHasEveryCode(t *testing.T) {
	want := constantsOf(t, "internal/ui/exit.go", "", "Exit")
	var got []string
	for _, d := range docscmd.ExitDocs {
		got = append(got, strconv.Itoa(d.Code))
	}
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("exit.go has what the page has not (-), or less (+):\n%s", diff)
	}
}

func TestExitPageHasEveryStopReason(t *testing.T) {
	want := constantsOf(t, filepath.Join(top, "engine", "stop", "stop.go"), "Code", "")
	var got []string
	for _, d := range docscmd.StopDocs {
		got = append(got, string(d.Code))
	}
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" || len(want) == 0 {
		t.Errorf("engine/stop/stop.go has what the page has not (-), or less (+):\n%s", diff)
	}
}

func TestTemplatesPageHasEveryTemplate(t *testing.T) {
	page, err := docscmd.TemplatesPage(components())
	if err != nil {
		t.Fatal(err)
	}
	for template, names := range engine.PromptNames {
		if template == "executor" {
			continue // it has no template key: the step's message is fixed
		}
		if !strings.Contains(string(page), "the built-in parameters of `"+template+"`") {
			t.Errorf("no key has the names of %s", template)
		}
		for _, name := range names {
			if !strings.Contains(string(page), "\n| `"+name+"` |") {
				t.Errorf("%s is not in the table", name)
			}
		}
	}
	for _, want := range []string{
		"\n| node `planner`: `planner_prompt_template` | `parameters.`, the built-in parameters of `planner` |",
		"\n| tool `http`: `headers.<name>` | `args.`, `parameters.`, `env.` |",
		"\n| provider `http`: `options.url` |",
		"\n| `graph.edges[].when` |",
		"\n| tool: `approval` | `tools.<name>.approval`; or one of `never`, `always` |",
	} {
		if !strings.Contains(string(page), want) {
			t.Errorf("the page does not hold %q", want)
		}
	}
}
