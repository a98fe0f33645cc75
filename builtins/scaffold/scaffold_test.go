package scaffold_test

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/builtins/scaffold"
)

func TestAgentIsNamedAfterItsFolder(t *testing.T) {
	for _, c := range []struct{ folder, want string }{
		{"/home/me/shop", "shop"},
		{"/home/me/My Shop", "my-shop"},
		{"/home/me/2026 Q3 Report!", "q3-report"},
		{"/home/me/log_triage.v2", "log_triage-v2"},
		{"/home/me/.hidden", "hidden"},
		{"/home/me/café--bar", "caf-bar"},
		{"/home/me/質問", "agent"},
		{"/", "agent"},
		{"/home/me/" + strings.Repeat("a", 70), strings.Repeat("a", 64)},
	} {
		t.Run(c.want, func(t *testing.T) {
			if got := scaffold.Suggest(c.folder).Name; got != c.want {
				t.Errorf("%s: %q, want %q", c.folder, got, c.want)
			}
		})
	}
}

// FuzzSuggest checks that the defaults for any folder are valid.
func FuzzSuggest(f *testing.F) {
	for _, folder := range []string{"shop", "", "..", "a b\x00", "-_-", "Ünder", "x" + strings.Repeat("-", 80)} {
		f.Add(folder)
	}
	f.Fuzz(func(t *testing.T, folder string) {
		if err := scaffold.Suggest(folder).Check(); err != nil {
			t.Errorf("%q: %v", folder, err)
		}
	})
}

// FuzzGenerate checks that any answers are either rejected or generate files without template leftovers and escape codes.
func FuzzGenerate(f *testing.F) {
	f.Add("shop", "Adds up.", "gpt-5.4-mini")
	f.Add("true", `a "b" ${c}`, "qwen3:8b")
	f.Add("x", "line\nbreak", "\x1b[31m")
	f.Add("x", "\u202e", "a\xffb")
	f.Fuzz(func(t *testing.T, name, description, model string) {
		a := scaffold.Suggest("shop")
		a.Name, a.Description, a.Model = name, description, model
		files, err := scaffold.Generate(a)
		if (err == nil) != (a.Check() == nil) {
			t.Fatalf("Generate returned %v, Check %v", err, a.Check())
		}
		for _, file := range files {
			if bytes.Contains(file.Content, []byte("{{")) && !strings.Contains(name+description+model, "{{") || bytes.Contains(file.Content, []byte("\x1b")) {
				t.Errorf("%s: %s", file.Path, file.Content)
			}
		}
	})
}

func TestToolOrderDoesNotAffectTheFiles(t *testing.T) {
	a := scaffold.Suggest("shop")
	a.Tools = []string{"calculator", "clock", "json_query"}
	b := a
	b.Tools = []string{"json_query", "calculator", "clock"}
	one, err := scaffold.Generate(a)
	if err != nil {
		t.Fatal(err)
	}
	other, err := scaffold.Generate(b)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(one, other); diff != "" {
		t.Errorf("the order of the answers changed the files:\n%s", diff)
	}
}

// TestSuggestedModelsHaveAPrice reads the price list as text, because this package must not import dsl.
func TestSuggestedModelsHaveAPrice(t *testing.T) {
	prices, err := os.ReadFile("../../dsl/pricing/prices.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range scaffold.Providers() {
		row := regexp.MustCompile(`provider: ` + p.Name + `, models: \[[^]]*"` + regexp.QuoteMeta(p.Model) + `"`)
		if without := p.Name == "ollama" || p.Name == "azure_openai"; row.Match(prices) == without {
			t.Errorf("%s %s: listed is %v", p.Name, p.Model, !without)
		}
	}
}

// interview returns an interview that reads the given lines.
func interview(out io.Writer, lines ...string) scaffold.Interview {
	return scaffold.Interview{Out: out, Line: func() (string, error) {
		if len(lines) == 0 {
			return "", io.EOF
		}
		line := lines[0]
		lines = lines[1:]
		return line, nil
	}}
}

func TestInterview(t *testing.T) {
	suggested := scaffold.Suggest("shop")
	for _, c := range []struct {
		name  string
		known []string
		lines []string
		want  func(*scaffold.Answers)
		says  string
	}{
		{"enter selects the default", nil, []string{"", "", "", "", ""}, func(*scaffold.Answers) {}, "[shop] >"},
		{"a provider sets its model", nil, []string{"", "", "mistral", "", ""}, func(a *scaffold.Answers) {
			a.Provider, a.Model = "mistral", "mistral-large-2512"
		}, "[mistral-large-2512] >"},
		{"numbers select names", nil, []string{"", "", "3", "llama4", "5,2"}, func(a *scaffold.Answers) {
			a.Provider, a.Model, a.Tools = "ollama", "llama4", []string{"calculator", "search_files"}
		}, "2  anthropic"},
		{"an invalid answer is asked again", nil, []string{"my shop", " Shop ", "", "0", "", "", "jason_query", "", ""}, func(a *scaffold.Answers) {
			a.Name = "Shop"
		}, `unknown tool "jason_query"; did you mean json_query?`},
		{"known answers are not asked for", []string{"name", "provider", "model", "tools"}, []string{"Adds up."}, func(a *scaffold.Answers) {
			a.Description = "Adds up."
		}, "What should it do?"},
		{"escape codes are rejected", []string{"name", "provider", "model", "tools"}, []string{"\x1b[2J", ""}, func(*scaffold.Answers) {}, "invisible"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out strings.Builder
			got, err := interview(&out, c.lines...).Ask(suggested, c.known)
			if err != nil {
				t.Fatalf("%v\n%s", err, out.String())
			}
			want := suggested
			c.want(&want)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if !strings.Contains(out.String(), c.says) {
				t.Errorf("%q is not in\n%s", c.says, out.String())
			}
		})
	}
}

func TestInterviewEndsWithItsInput(t *testing.T) {
	if _, err := interview(io.Discard, "shop").Ask(scaffold.Suggest("x"), nil); !errors.Is(err, io.EOF) {
		t.Errorf("got %v, want EOF", err)
	}
}

func TestSetKeepsTheAnswersIfInvalid(t *testing.T) {
	a := scaffold.Suggest("shop")
	before := a
	for _, c := range []struct{ flag, text string }{{"provider", "unknown"}, {"tools", "clock"}, {"name", ""}, {"colour", "red"}} {
		if err := a.Set(c.flag, c.text); err == nil {
			t.Errorf("%s %q was accepted", c.flag, c.text)
		}
	}
	if diff := cmp.Diff(before, a); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestWrite(t *testing.T) {
	files := []scaffold.File{{"a.txt", []byte("A")}, {"sub/run.sh", []byte("#!/bin/sh\n")}, {"sub/b.txt", []byte("B")}}
	for _, c := range []struct {
		name  string
		there map[string]string
		force bool
		err   string
		want  map[string]string // files afterwards, with permissions
	}{
		{"into a missing folder", nil, false, "", map[string]string{"a.txt": "-rw-r--r-- A", "sub/b.txt": "-rw-r--r-- B", "sub/run.sh": "-rwxr-xr-x #!/bin/sh\n"}},
		{"beside other files", map[string]string{"sub/c.txt": "C"}, false, "", map[string]string{"a.txt": "-rw-r--r-- A", "sub/b.txt": "-rw-r--r-- B", "sub/c.txt": "-rw-r--r-- C", "sub/run.sh": "-rwxr-xr-x #!/bin/sh\n"}},
		{"over a file", map[string]string{"sub/b.txt": "mine"}, false, "sub/b.txt already exists", map[string]string{"sub/b.txt": "-rw-r--r-- mine"}},
		{"over a file, with force", map[string]string{"sub/b.txt": "mine"}, true, "", map[string]string{"a.txt": "-rw-r--r-- A", "sub/b.txt": "-rw-r--r-- B", "sub/run.sh": "-rwxr-xr-x #!/bin/sh\n"}},
		{"below a file", map[string]string{"sub": "mine"}, true, "sub is not a folder", map[string]string{"sub": "-rw-r--r-- mine"}},
		{"over a folder", map[string]string{"a.txt/x": "mine"}, true, "is not a regular file", map[string]string{"a.txt/x": "-rw-r--r-- mine"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "in", "it")
			for path, content := range c.there {
				put(t, filepath.Join(dir, path), content)
			}
			err := scaffold.Write(dir, files, c.force)
			if c.err == "" && err != nil || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
				t.Errorf("error %v, want %q", err, c.err)
			}
			if diff := cmp.Diff(c.want, tree(t, dir)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// TestFailedWriteLeavesNothing fails at the second file, whose name is too long for any
// file system.
func TestFailedWriteLeavesNothing(t *testing.T) {
	above := t.TempDir()
	long := scaffold.File{Path: "sub/" + strings.Repeat("x", 251), Content: nil} // too long with the suffix of the temporary file
	err := scaffold.Write(filepath.Join(above, "in", "it"), []scaffold.File{{"sub/deep/a.txt", []byte("A")}, long}, false)
	if err == nil {
		t.Fatal("the name was written")
	}
	if !strings.Contains(err.Error(), filepath.Join("it", "sub", "xxx")) || strings.Contains(err.Error(), "new~") {
		t.Errorf("the error does not name the file: %v", err)
	}
	if _, err := os.Stat(filepath.Join(above, "in")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("leftover files: %v", tree(t, above))
	}
}

func TestWriteDoesNotFollowLinksOutOfTheFolder(t *testing.T) {
	dir, elsewhere := t.TempDir(), t.TempDir()
	for name, target := range map[string]string{"sub": elsewhere, "gone": "nowhere"} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Skip(err)
		}
		err := scaffold.Write(dir, []scaffold.File{{name + "/a.txt", []byte("A")}}, true)
		if want := name + " is a symbolic link that is broken or leaves the project"; err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	if got := tree(t, elsewhere); len(got) > 0 {
		t.Errorf("written through the link: %v", got)
	}
}

func put(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// tree returns the files below a folder, with permissions and content.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		content, err := os.ReadFile(path)
		rel, _ := filepath.Rel(dir, path)
		out[filepath.ToSlash(rel)] = info.Mode().String() + " " + string(content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestFlags(t *testing.T) {
	if want := []string{"name", "description", "provider", "model", "tools"}; !slices.Equal(scaffold.Flags(), want) {
		t.Errorf("flags %v, want %v", scaffold.Flags(), want)
	}
}
