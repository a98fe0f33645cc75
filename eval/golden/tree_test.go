package golden_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/eval/golden"
)

// project creates a root with files.
func project(t testing.TB, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// contents returns all files below a root.
func contents(t *testing.T, root string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(root, func(path string, e os.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(path)
		rel, _ := filepath.Rel(root, path)
		out[filepath.ToSlash(rel)] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func open(t testing.TB, root string, strict bool) *golden.Tree {
	t.Helper()
	tree, err := golden.Open(root, strict)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tree.Close() })
	return tree
}

func caseOf(t testing.TB, tree *golden.Tree, owner, path string) *golden.Case {
	t.Helper()
	c, err := tree.Case(owner, path)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// summaries lists changes as "kind name".
func summaries(changes []golden.Change) []string {
	var out []string
	for _, c := range changes {
		out = append(out, string(c.Kind)+" "+c.Name)
	}
	return out
}

func TestCompareReportsDifferences(t *testing.T) {
	for _, c := range []struct {
		name string
		file string // content of golden/planner.prompt.md; "-" = no file
		got  string
		want []string
	}{
		{"same", "a\nb\n", "a\nb\n", nil},
		{"changed", "a\n", "b\n", []string{"changed planner.prompt.md"}},
		{"missing", "-", "b\n", []string{"missing planner.prompt.md"}},
		{"missing, and empty", "-", "", []string{"missing planner.prompt.md"}},
		{"empty", "", "", nil},
		{"emptied", "a\n", "", []string{"changed planner.prompt.md"}},
		{"checked out with other line ends", "a\r\nb\r\n", "a\nb\n", nil},
		{"other line endings", "a\nb\n", "a\r\nb\r\n", nil},
		{"a carriage return alone is text", "a\rb\n", "a\nb\n", []string{"changed planner.prompt.md"}},
		{"no newline at the end of the golden", "a", "a\n", nil},
		{"none at the end of what came", "a\n", "a", nil},
		{"an empty line more", "a\n", "a\n\n", []string{"changed planner.prompt.md"}},
		{"not UTF-8", "a\xff\n", "a\xfe\n", []string{"changed planner.prompt.md"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			files := map[string]string{"tests/x/golden/note.txt": "mine"}
			if c.file != "-" {
				files["tests/x/golden/planner.prompt.md"] = c.file
			}
			root := project(t, files)
			cs := caseOf(t, open(t, root, false), "x", filepath.Join(root, "tests/x/golden"))
			changes, err := cs.Compare([]golden.Artifact{{Name: "planner.prompt.md", Text: c.got}}, false)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(c.want, summaries(changes)); d != "" {
				t.Error(d)
			}
			if d := cmp.Diff(files, contents(t, root)); d != "" {
				t.Error("a comparison changed files", d)
			}
		})
	}
}

func TestChangesAreOrdered(t *testing.T) {
	root := project(t, nil)
	cs := caseOf(t, open(t, root, false), "x", filepath.Join(root, "golden"))
	changes, err := cs.Compare([]golden.Artifact{
		{Name: "output.md"},
		{Name: "trajectory.json"},
		{Name: "tools.json"},
		{Name: "planner.params.json"},
		{Name: "reflector.prompt.md"},
		{Name: "executor.prompt.md"},
	}, false)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"missing executor.prompt.md", "missing reflector.prompt.md", "missing planner.params.json",
		"missing tools.json", "missing trajectory.json", "missing output.md",
	}
	if d := cmp.Diff(want, summaries(changes)); d != "" {
		t.Error(d)
	}
	ch := changes[0]
	if ch.Node() != "executor" || ch.Case != "x" || ch.File != filepath.Join(root, "golden", "executor.prompt.md") || changes[3].Node() != "" {
		t.Errorf("%+v", ch)
	}
}

func TestUpdateWritesOnlyChanges(t *testing.T) {
	root := project(t, map[string]string{
		"golden/planner.prompt.md":  "old\n",
		"golden/executor.prompt.md": "same\r\n",
		"golden/notes.md":           "mine\n",
	})
	old := time.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC)
	unchanged := filepath.Join(root, "golden/executor.prompt.md")
	if err := os.Chtimes(unchanged, old, old); err != nil {
		t.Fatal(err)
	}
	cs := caseOf(t, open(t, root, false), "x", filepath.Join(root, "golden"))
	changes, err := cs.Update([]golden.Artifact{
		{Name: "planner.prompt.md", Text: "new\r\nlines"}, {Name: "executor.prompt.md", Text: "same\n"}, {Name: "tools.json", Text: "[]"},
	}, false)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"changed planner.prompt.md", "missing tools.json"}, summaries(changes)); d != "" {
		t.Error(d)
	}
	want := map[string]string{
		"golden/planner.prompt.md":  "new\nlines\n",
		"golden/executor.prompt.md": "same\r\n",
		"golden/notes.md":           "mine\n",
		"golden/tools.json":         "[]\n",
	}
	if d := cmp.Diff(want, contents(t, root)); d != "" {
		t.Error(d)
	}
	if info, err := os.Stat(unchanged); err != nil || !info.ModTime().Equal(old) {
		t.Error("an unchanged golden was written", err)
	}
}

func TestStrictTreeWritesNothing(t *testing.T) {
	files := map[string]string{"golden/planner.prompt.md": "old\n", "golden/tools.json": "[]\n"}
	root := project(t, files)
	tree := open(t, root, true)
	got := []golden.Artifact{{Name: "planner.prompt.md", Text: "new\n"}}
	cs := caseOf(t, tree, "x", filepath.Join(root, "golden"))
	if _, err := cs.Update(got, false); !errors.Is(err, golden.ErrStrict) || !strings.Contains(err.Error(), "CI") {
		t.Errorf("update: %v", err)
	}
	changes, err := cs.Compare(got, false)
	if err != nil || len(changes) != 1 {
		t.Fatal(changes, err)
	}
	unused, err := tree.Unused(tree.Folders()...)
	if err != nil || len(unused) != 1 {
		t.Fatal(unused, err)
	}
	for _, ch := range append(changes, unused...) {
		if err := ch.Accept(); !errors.Is(err, golden.ErrStrict) {
			t.Errorf("accept: %v", err)
		}
	}
	if d := cmp.Diff(files, contents(t, root)); d != "" {
		t.Error(d)
	}
}

func TestCasesShareEqualGolden(t *testing.T) {
	root := project(t, nil)
	tree := open(t, root, false)
	got := []golden.Artifact{{Name: "planner.prompt.md", Text: "a\n"}}
	for range 2 { // the same case may be compared again
		if _, err := caseOf(t, tree, "one", filepath.Join(root, "golden")).Update(got, false); err != nil {
			t.Fatal(err)
		}
	}
	if changes, err := caseOf(t, tree, "two", filepath.Join(root, "golden")).Update(got, false); err != nil || changes != nil {
		t.Error(summaries(changes), err)
	}
	other := []golden.Artifact{{Name: "planner.prompt.md", Text: "b\n"}}
	_, err := caseOf(t, tree, "three", filepath.Join(root, "golden")).Update(other, false)
	if err == nil || !strings.Contains(err.Error(), "is also the golden file of one") || !strings.Contains(err.Error(), "set another path for three") {
		t.Errorf("got %v", err)
	}
	if d := cmp.Diff(map[string]string{"golden/planner.prompt.md": "a\n"}, contents(t, root)); d != "" {
		t.Error(d)
	}
}

// Cases of a folder are compared in the order of their announcement, whatever the order of their goroutines.
func TestGoldenOwnerIsDeterministic(t *testing.T) {
	for range 20 {
		root := project(t, nil)
		tree := open(t, root, false)
		const cases = 8
		failed := make([]error, cases)
		for i := range cases {
			if err := tree.Announce(fmt.Sprint(i), filepath.Join(root, "golden")); err != nil {
				t.Fatal(err)
			}
		}
		var wg sync.WaitGroup
		for i := range cases {
			wg.Go(func() {
				c := caseOf(t, tree, fmt.Sprint(i), filepath.Join(root, "golden"))
				defer c.Close()
				if i != 3 { // it never completes
					_, failed[i] = c.Update([]golden.Artifact{{Name: "tools.json", Text: fmt.Sprint(min(i, 1))}}, false)
				}
			})
		}
		wg.Wait()
		for i, err := range failed {
			if (err != nil) != (i > 0 && i != 3) {
				t.Errorf("case %d: %v", i, err)
			}
		}
		if d := cmp.Diff(map[string]string{"golden/tools.json": "0\n"}, contents(t, root)); d != "" {
			t.Error(d)
		}
	}
}

func TestFileHoldsSinglePrompt(t *testing.T) {
	root := project(t, map[string]string{"golden.md": "old\n"})
	tree := open(t, root, false)
	cs := caseOf(t, tree, "x", filepath.Join(root, "golden.md"))
	changes, err := cs.Update([]golden.Artifact{{Name: "tools.json", Text: "[]"}, {Name: "planner.prompt.md", Text: "new\n"}, {Name: "planner.params.json", Text: "{}"}}, false)
	if err != nil || len(changes) != 1 {
		t.Fatal(summaries(changes), err)
	}
	if d := cmp.Diff(map[string]string{"golden.md": "new\n"}, contents(t, root)); d != "" {
		t.Error(d)
	}
	_, err = cs.Compare([]golden.Artifact{{Name: "planner.prompt.md"}, {Name: "executor.prompt.md"}}, false)
	if err == nil || !strings.Contains(err.Error(), "use a folder") {
		t.Errorf("two prompts in one file: %v", err)
	}
	if unused, err := tree.Unused(tree.Folders()...); unused != nil || err != nil {
		t.Error(unused, err)
	}
}

func TestInvalidGoldensAreErrors(t *testing.T) {
	for _, c := range []struct {
		name string
		got  []golden.Artifact
		want string
	}{
		{"name of another kind", []golden.Artifact{{Name: "notes.md"}}, `"notes.md"`},
		{"path", []golden.Artifact{{Name: "../x.prompt.md"}}, `"../x.prompt.md"`},
		{"no node", []golden.Artifact{{Name: ".prompt.md"}}, `".prompt.md"`},
		{"twice", []golden.Artifact{{Name: "tools.json"}, {Name: "tools.json"}}, "duplicate artefact"},
	} {
		t.Run(c.name, func(t *testing.T) {
			root := project(t, nil)
			_, err := caseOf(t, open(t, root, false), "x", filepath.Join(root, "golden")).Compare(c.got, false)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestCasesRunConcurrently(t *testing.T) {
	root := project(t, nil)
	tree := open(t, root, false)
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			name := fmt.Sprintf("case-%d", i)
			c, err := tree.Case(name, filepath.Join(root, "tests", name, "golden"))
			if err != nil {
				t.Error(err)
				return
			}
			got := []golden.Artifact{{Name: "planner.prompt.md", Text: name}, {Name: "tools.json", Text: "[]"}}
			if changes, err := c.Update(got, false); err != nil || len(changes) != 2 {
				t.Error(len(changes), err)
			}
			if changes, err := c.Compare(got, false); err != nil || len(changes) != 0 {
				t.Error(summaries(changes), err)
			}
		})
	}
	wg.Wait()
	if unused, err := tree.Unused(tree.Folders()...); unused != nil || err != nil {
		t.Error(summaries(unused), err)
	}
	if got := len(contents(t, root)); got != 40 {
		t.Errorf("%d files", got)
	}
}

func TestOpenRequiresFolder(t *testing.T) {
	if _, err := golden.Open(filepath.Join(t.TempDir(), "none"), false); err == nil || !strings.Contains(err.Error(), "golden files") {
		t.Error(err)
	}
}
