package starter_test

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

	"github.com/pexctl/pex/builtins/starter"
)

func TestAFolderGivesAName(t *testing.T) {
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
			if got := starter.Suggest(c.folder).Name; got != c.want {
				t.Errorf("%s: %q, want %q", c.folder, got, c.want)
			}
		})
	}
}

// FuzzSuggest wants whatever folder there is to give answers that can be taken.
func FuzzSuggest(f *testing.F) {
	for _, folder := range []string{"shop", "", "..", "a b\x00", "-_-", "Ünder", "x" + strings.Repeat("-", 80)} {
		f.Add(folder)
	}
	f.Fuzz(func(t *testing.T, folder string) {
		if err := starter.Suggest(folder).Check(); err != nil {
			t.Errorf("%q: %v", folder, err)
		}
	})
}

// FuzzMake wants whatever is said to be refused, or to make a project whose
// texts hold it.
func FuzzMake(f *testing.F) {
	f.Add("shop", "Adds up.", "gpt-5.4-mini")
	f.Add("true", `a "b" ${c}`, "qwen3:8b")
	f.Add("x", "line\nbreak", "\x1b[31m")
	f.Add("x", "\u202e", "a\xffb")
	f.Fuzz(func(t *testing.T, name, description, model string) {
		a := starter.Suggest("shop")
		a.Name, a.Description, a.Model = name, description, model
		files, err := starter.Make(a)
		if (err == nil) != (a.Check() == nil) {
			t.Fatalf("Make says %v, Check says %v", err, a.Check())
		}
		for _, file := range files {
			if bytes.Contains(file.Content, []byte("{{")) && !strings.Contains(name+description+model, "{{") || bytes.Contains(file.Content, []byte("\x1b")) {
				t.Errorf("%s: %s", file.Path, file.Content)
			}
		}
	})
}

func TestMakeKeepsTheOrderOfTools(t *testing.T) {
	a := starter.Suggest("shop")
	a.Tools = []string{"calculator", "clock", "json_query"}
	b := a
	b.Tools = []string{"json_query", "calculator", "clock"}
	one, err := starter.Make(a)
	if err != nil {
		t.Fatal(err)
	}
	other, err := starter.Make(b)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(one, other); diff != "" {
		t.Errorf("the order of the answers shows:\n%s", diff)
	}
}

// TestSuggestedModelsHaveAPrice reads the table of prices as text: this package
// knows nothing of the language.
func TestSuggestedModelsHaveAPrice(t *testing.T) {
	prices, err := os.ReadFile("../../dsl/pricing/prices.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range starter.Providers() {
		row := regexp.MustCompile(`provider: ` + p.Name + `, models: \[[^]]*"` + regexp.QuoteMeta(p.Model) + `"`)
		if without := p.Name == "ollama" || p.Name == "azure_openai"; row.Match(prices) == without {
			t.Errorf("%s %s: in the table is %v", p.Name, p.Model, !without)
		}
	}
}

// interview asks with lines as answers.
func interview(out io.Writer, lines ...string) starter.Interview {
	return starter.Interview{Out: out, Line: func() (string, error) {
		if len(lines) == 0 {
			return "", io.EOF
		}
		line := lines[0]
		lines = lines[1:]
		return line, nil
	}}
}

func TestInterview(t *testing.T) {
	suggested := starter.Suggest("shop")
	for _, c := range []struct {
		name  string
		known []string
		lines []string
		want  func(*starter.Answers)
		says  string
	}{
		{"enter takes what is suggested", nil, []string{"", "", "", "", ""}, func(*starter.Answers) {}, "[shop] >"},
		{"a provider brings its model", nil, []string{"", "", "mistral", "", ""}, func(a *starter.Answers) {
			a.Provider, a.Model = "mistral", "mistral-large-2512"
		}, "[mistral-large-2512] >"},
		{"numbers stand for names", nil, []string{"", "", "3", "llama4", "5,2"}, func(a *starter.Answers) {
			a.Provider, a.Model, a.Tools = "ollama", "llama4", []string{"calculator", "search_files"}
		}, "2  anthropic"},
		{"a wrong answer is asked for again", nil, []string{"my shop", " Shop ", "", "0", "", "", "jason_query", "", ""}, func(a *starter.Answers) {
			a.Name = "Shop"
		}, `there is no tool "jason_query"; did you mean json_query?`},
		{"what is known is not asked for", []string{"name", "provider", "model", "tools"}, []string{"Adds up."}, func(a *starter.Answers) {
			a.Description = "Adds up."
		}, "What is it for?"},
		{"a screen is not driven", []string{"name", "provider", "model", "tools"}, []string{"\x1b[2J", ""}, func(*starter.Answers) {}, "cannot be seen"},
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

func TestAnInterviewThatEndsIsAnError(t *testing.T) {
	if _, err := interview(io.Discard, "shop").Ask(starter.Suggest("x"), nil); !errors.Is(err, io.EOF) {
		t.Errorf("the end of answers gives %v", err)
	}
}

func TestTakeLeavesAnswersThatItRefuses(t *testing.T) {
	a := starter.Suggest("shop")
	before := a
	for _, c := range []struct{ flag, text string }{{"provider", "nobody"}, {"tools", "clock"}, {"name", ""}, {"colour", "red"}} {
		if err := a.Take(c.flag, c.text); err == nil {
			t.Errorf("%s %q is taken", c.flag, c.text)
		}
	}
	if diff := cmp.Diff(before, a); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestPlace(t *testing.T) {
	files := []starter.File{{"a.txt", []byte("A")}, {"sub/run.sh", []byte("#!/bin/sh\n")}, {"sub/b.txt", []byte("B")}}
	for _, c := range []struct {
		name  string
		there map[string]string
		force bool
		err   string
		want  map[string]string // what there is then, with each file's permissions
	}{
		{"into nothing", nil, false, "", map[string]string{"a.txt": "-rw-r--r-- A", "sub/b.txt": "-rw-r--r-- B", "sub/run.sh": "-rwxr-xr-x #!/bin/sh\n"}},
		{"beside other files", map[string]string{"sub/c.txt": "C"}, false, "", map[string]string{"a.txt": "-rw-r--r-- A", "sub/b.txt": "-rw-r--r-- B", "sub/c.txt": "-rw-r--r-- C", "sub/run.sh": "-rwxr-xr-x #!/bin/sh\n"}},
		{"onto a file", map[string]string{"sub/b.txt": "mine"}, false, "sub/b.txt is there already", map[string]string{"sub/b.txt": "-rw-r--r-- mine"}},
		{"onto a file, by force", map[string]string{"sub/b.txt": "mine"}, true, "", map[string]string{"a.txt": "-rw-r--r-- A", "sub/b.txt": "-rw-r--r-- B", "sub/run.sh": "-rwxr-xr-x #!/bin/sh\n"}},
		{"below a file", map[string]string{"sub": "mine"}, true, "sub is no folder", map[string]string{"sub": "-rw-r--r-- mine"}},
		{"onto a folder", map[string]string{"a.txt/x": "mine"}, true, "is no file", map[string]string{"a.txt/x": "-rw-r--r-- mine"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "in", "it")
			for path, content := range c.there {
				put(t, filepath.Join(dir, path), content)
			}
			err := starter.Place(dir, files, c.force)
			if c.err == "" && err != nil || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
				t.Errorf("error %v, want %q", err, c.err)
			}
			if diff := cmp.Diff(c.want, tree(t, dir)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// TestPlaceTakesBackWhatItMade has a write fail in the middle: a name that is
// too long for any file system.
func TestPlaceTakesBackWhatItMade(t *testing.T) {
	above := t.TempDir()
	long := starter.File{Path: "sub/" + strings.Repeat("x", 251), Content: nil} // with the ending of a file on its way it does not fit
	err := starter.Place(filepath.Join(above, "in", "it"), []starter.File{{"sub/deep/a.txt", []byte("A")}, long}, false)
	if err == nil {
		t.Fatal("such a name was written")
	}
	if !strings.Contains(err.Error(), filepath.Join("it", "sub", "xxx")) || strings.Contains(err.Error(), "new~") {
		t.Errorf("the error names another file: %v", err)
	}
	if _, err := os.Stat(filepath.Join(above, "in")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("something was left: %v", tree(t, above))
	}
}

// TestPlaceStaysBelowItsFolder has a link in the way that leads elsewhere.
func TestPlaceStaysBelowItsFolder(t *testing.T) {
	dir, elsewhere := t.TempDir(), t.TempDir()
	for name, target := range map[string]string{"sub": elsewhere, "gone": "nowhere"} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Skip(err)
		}
		err := starter.Place(dir, []starter.File{{name + "/a.txt", []byte("A")}}, true)
		if want := name + " is a link that leads nowhere or out of the project"; err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	if got := tree(t, elsewhere); len(got) > 0 {
		t.Errorf("elsewhere there is %v", got)
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

// tree is the files below a folder, each with its permissions and content.
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

func TestFlagsAreThoseOfTheQuestions(t *testing.T) {
	if want := []string{"name", "description", "provider", "model", "tools"}; !slices.Equal(starter.Flags(), want) {
		t.Errorf("flags %v, want %v", starter.Flags(), want)
	}
}
