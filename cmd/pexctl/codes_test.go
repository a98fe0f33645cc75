package main

import (
	"bytes"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/dsl/diag"
)

// vetExample vets an example like a reader would, and returns the reported codes.
func vetExample(t *testing.T, e diag.Example) []string {
	t.Helper()
	t.Chdir(t.TempDir())
	t.Setenv("PEX_HOME", t.TempDir())
	for _, f := range e.Files {
		path := filepath.FromSlash(f.Name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(f.Text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	args := []string{"pexctl", "vet", e.Files[0].Name}
	if e.Command != "" {
		args = strings.Fields(e.Command)
	}
	var stdout, stderr bytes.Buffer
	run(append(args[1:], "-o", "json"), streams{strings.NewReader(""), &stdout, &stderr})
	var got struct{ Diagnostics []diag.Diagnostic }
	if err := json.Unmarshal(stdout.Bytes(), &got); err != nil {
		t.Fatalf("%v\n%s%s", err, stdout.String(), stderr.String())
	}
	var codes []string
	for _, d := range got.Diagnostics {
		codes = append(codes, string(d.Code))
		t.Logf("%s:%d:%d %s %s", d.File, d.Line, d.Column, d.Code, d.Message)
	}
	return codes
}

// Readers copy the examples of a code: the wrong one must have that mistake, the
// right one none.
func TestExamplesOfCodes(t *testing.T) {
	oneGoroutine(t)
	for _, m := range diag.Codes() {
		if len(m.Wrong.Files) == 0 || len(m.Right.Files) == 0 {
			t.Errorf("%s has no example under ## Wrong and ## Right", m.Code)
			continue
		}
		t.Run(string(m.Code)+" wrong", func(t *testing.T) {
			if got := vetExample(t, m.Wrong); !slices.Contains(got, string(m.Code)) {
				t.Errorf("it reports %v", got)
			}
		})
		t.Run(string(m.Code)+" right", func(t *testing.T) {
			if got := vetExample(t, m.Right); len(got) > 0 {
				t.Errorf("it reports %v", got)
			}
		})
	}
}

// constants maps the names of codes in the sources to codes.
func constants(t *testing.T) map[string]diag.Code {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(top, "dsl", "diag", "code.go"), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]diag.Code{}
	ast.Inspect(file, func(n ast.Node) bool {
		if v, ok := n.(*ast.ValueSpec); ok && len(v.Values) == 1 {
			if lit, ok := v.Values[0].(*ast.BasicLit); ok {
				code, _ := strconv.Unquote(lit.Value)
				out[v.Names[0].Name] = diag.Code(code)
			}
		}
		return true
	})
	return out
}

// reported returns the codes that the sources use: diag.MissingKey etc.
func reported(t *testing.T) map[string]bool {
	t.Helper()
	out := map[string]bool{}
	for _, dir := range []string{"dsl", "cmd"} {
		err := filepath.WalkDir(filepath.Join(top, dir), func(path string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
			if err != nil {
				return err
			}
			ast.Inspect(file, func(n ast.Node) bool {
				if s, ok := n.(*ast.SelectorExpr); ok {
					if x, ok := s.X.(*ast.Ident); ok && x.Name == "diag" {
						out[s.Sel.Name] = true
					}
				}
				return true
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return out
}

func TestEveryCodeHasItsPage(t *testing.T) {
	oneGoroutine(t)
	names, used := constants(t), reported(t)
	if len(names) < 50 || len(used) < 50 {
		t.Fatalf("%d codes and %d names are too few", len(names), len(used))
	}
	known := map[diag.Code]bool{}
	for name, code := range names {
		known[code] = true
		if _, ok := diag.Explain(string(code)); !ok && used[name] {
			t.Errorf("%s (diag.%s) is reported, and dsl/diag/codes has no page of it", code, name)
		}
	}
	for _, m := range diag.Codes() {
		if !known[m.Code] {
			t.Errorf("dsl/diag/codes has a page of %s, and code.go no such code", m.Code)
		}
	}
}

func TestExplainIsForReaders(t *testing.T) {
	cases := []struct {
		name string
		args []string
		exit int
		want []string
	}{
		{"a code", []string{"PEX012"}, ui.ExitOK, []string{"PEX012: missing required key\n\n", "\nWrong\n", "\nRight\n", "  apiVersion: pex/v1\n"}},
		{"an example with a command", []string{"PEX018"}, ui.ExitOK, []string{"  $ pexctl vet spec.yaml --set limits.max_steps=5\n"}},
		{"an example of several files", []string{"PEX001"}, ui.ExitOK, []string{"  prompts/plan.md\n"}},
		{"in small letters", []string{"pex012"}, ui.ExitOK, []string{"PEX012"}},
		{"the number alone", []string{"12"}, ui.ExitOK, []string{"PEX012"}},
		{"a code that is not", []string{"PEX912"}, ui.ExitUsage, []string{"did you mean PEX012"}},
		{"no code at all", []string{"banana"}, ui.ExitUsage, []string{"unknown diagnostic code", "run pexctl explain"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var out bytes.Buffer
			if code := run(append([]string{"explain"}, c.args...), streams{strings.NewReader(""), &out, &out}); code != c.exit {
				t.Errorf("exit %d, want %d", code, c.exit)
			}
			for _, want := range c.want {
				if !strings.Contains(out.String(), want) {
					t.Errorf("%q is not in:\n%s", want, out.String())
				}
			}
		})
	}
	if code := run([]string{"explain", "PEX012", "-o", "json"}, streams{strings.NewReader(""), io.Discard, io.Discard}); code != ui.ExitOK {
		t.Errorf("as JSON: exit %d", code)
	}
}
