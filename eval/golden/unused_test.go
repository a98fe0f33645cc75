package golden_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/eval/golden"
)

func TestUnusedGoldens(t *testing.T) {
	root := project(t, map[string]string{
		"golden/planner.prompt.md":    "a\n",
		"golden/executor.prompt.md":   "b\n",
		"golden/output.md":            "c\n",
		"golden/README.md":            "mine\n",
		"golden/tools.json.orig":      "mine\n",
		"golden/2.prompt.md":          "mine\n", // not the id of a node
		"golden/sub/tools.json":       "mine\n",
		"gone/golden/trajectory.json": "{}\n",
	})
	tree := open(t, root, false)
	one := caseOf(t, tree, "one", filepath.Join(root, "golden"))
	two := caseOf(t, tree, "two", filepath.Join(root, "golden"))
	compare := func(c *golden.Case, partial bool, name, text string) {
		t.Helper()
		if changes, err := c.Compare([]golden.Artifact{{Name: name, Text: text}}, partial); err != nil || len(changes) > 0 {
			t.Fatal(summaries(changes), err)
		}
	}
	unused := func(folders ...string) []golden.Change {
		t.Helper()
		out, err := tree.Unused(append(folders, tree.Folders()...)...)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	compare(one, false, "planner.prompt.md", "a\n")
	if got := unused(); got != nil {
		t.Errorf("two may still use them: %v", summaries(got))
	}
	compare(two, true, "executor.prompt.md", "b\n")
	if got := unused(); got != nil {
		t.Errorf("two did not complete: %v", summaries(got))
	}
	compare(two, false, "executor.prompt.md", "b\n")
	got := unused(filepath.Join(root, "gone/golden"), filepath.Join(root, "golden"), filepath.Join(root, "never/was"))
	if d := cmp.Diff([]string{"unused output.md", "unused trajectory.json"}, summaries(got)); d != "" {
		t.Fatal(d)
	}
	for _, ch := range got {
		if err := ch.Accept(); err != nil {
			t.Error(err)
		}
	}
	left := contents(t, root)
	if _, there := left["golden/output.md"]; there || len(left) != 6 || left["gone/golden/trajectory.json"] != "" {
		t.Errorf("left: %v", left)
	}
}

// An announced case may still use any golden of its folder.
func TestNothingIsUnusedBeforeAnnouncedCasesComplete(t *testing.T) {
	root := project(t, map[string]string{"golden/tools.json": "[]\n", "golden/output.md": "a\n", "golden/planner.prompt.md": "p\n"})
	tree := open(t, root, false)
	at := filepath.Join(root, "golden")
	cases := []struct{ owner, path, name, text string }{
		{"one", at, "tools.json", "[]"}, {"two", at, "tools.json", "[]"}, {"three", filepath.Join(at, "planner.prompt.md"), "planner.prompt.md", "p"},
	}
	for _, c := range cases {
		if err := tree.Announce(c.owner, c.path); err != nil {
			t.Fatal(err)
		}
	}
	if err := tree.Announce("out", filepath.Dir(root)); err == nil {
		t.Error("a golden outside of the root was announced")
	}
	for i, c := range cases {
		if unused, err := tree.Unused(at); err != nil || unused != nil {
			t.Errorf("before case %d: %v, %v", i, summaries(unused), err)
		}
		cs := caseOf(t, tree, c.owner, c.path)
		if changes, err := cs.Compare([]golden.Artifact{{Name: c.name, Text: c.text}}, false); err != nil || changes != nil {
			t.Fatal(summaries(changes), err)
		}
		cs.Close()
	}
	unused, err := tree.Unused(at)
	if d := cmp.Diff([]string{"unused output.md"}, summaries(unused)); d != "" || err != nil {
		t.Error(d, err)
	}
}

// Files in a folder behind a symbolic link have another path, by which other cases may use them.
func TestNothingIsUnusedBehindSymlink(t *testing.T) {
	root := project(t, map[string]string{"x/golden/tools.json": "[]\n", "y/z": ""})
	link(t, "../x/golden", filepath.Join(root, "y/golden"))
	link(t, "x", filepath.Join(root, "w"))
	unused, err := open(t, root, false).Unused(filepath.Join(root, "y/golden"), filepath.Join(root, "w/golden"))
	if err != nil || unused != nil {
		t.Error(summaries(unused), err)
	}
}

// Files that a spec reads are not goldens, and their folders may contain other files.
func TestInputsAreNotGoldens(t *testing.T) {
	files := map[string]string{"prompts/planner.prompt.md": "You plan ${parameters.question}.\n", "prompts/output.md": "mine\n"}
	root := project(t, files)
	tree := open(t, root, false)
	tree.ExcludeInputs(filepath.Join(root, "prompts/planner.prompt.md"), filepath.Join(root, "..", "elsewhere"))
	got := []golden.Artifact{{Name: "planner.prompt.md", Text: "## system\n"}}
	for _, path := range []string{"prompts", "prompts/planner.prompt.md"} {
		_, err := caseOf(t, tree, path, filepath.Join(root, path)).Update(got, false)
		if err == nil || !strings.Contains(err.Error(), "prompts/planner.prompt.md is read by the spec or its tests") {
			t.Errorf("%s: %v", path, err)
		}
	}
	if changes, err := caseOf(t, tree, "tools", filepath.Join(root, "prompts")).Compare([]golden.Artifact{{Name: "tools.json"}}, false); err != nil || len(changes) != 1 {
		t.Error(summaries(changes), err)
	}
	if unused, err := tree.Unused(filepath.Join(root, "prompts")); err != nil || unused != nil {
		t.Error(summaries(unused), err)
	}
	if d := cmp.Diff(files, contents(t, root)); d != "" {
		t.Error(d)
	}
}

// Temporary files of a killed update are removed too, and folders that become empty.
func TestAcceptingUnusedRemovesFilesAndFolders(t *testing.T) {
	root := project(t, map[string]string{
		"tests/old/golden/.planner.prompt.md.0123456789abcdef.next": "ha",
		"tests/old/golden/planner.prompt.md":                        "p\n",
		"tests/kept/golden/.notes.0123456789abcdef.next":            "mine",
		"tests/kept/golden/tools.json":                              "[]\n",
	})
	tree := open(t, root, false)
	unused, err := tree.Unused(filepath.Join(root, "tests/old/golden"), filepath.Join(root, "tests/kept/golden"))
	if d := cmp.Diff([]string{"unused tools.json", "unused .planner.prompt.md.0123456789abcdef.next", "unused planner.prompt.md"}, summaries(unused)); d != "" || err != nil {
		t.Fatal(d, err)
	}
	for _, ch := range unused {
		if err := ch.Accept(); err != nil {
			t.Error(err)
		}
	}
	if d := cmp.Diff(map[string]string{"tests/kept/golden/.notes.0123456789abcdef.next": "mine"}, contents(t, root)); d != "" {
		t.Error(d)
	}
	if _, err := os.Stat(filepath.Join(root, "tests/old")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the empty folder: %v", err)
	}
}
