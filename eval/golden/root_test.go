package golden_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/eval/golden"
)

func TestFilesOutsideRootAreRejected(t *testing.T) {
	outside := project(t, map[string]string{"planner.prompt.md": "theirs\n", "tools.json": "theirs\n"})
	got := []golden.Artifact{{Name: "planner.prompt.md", Text: "new\n"}}
	t.Run("a path outside of it", func(t *testing.T) {
		root := project(t, nil)
		for _, path := range []string{outside, filepath.Dir(root), filepath.Join(root, "..", "x"), "golden"} {
			if _, err := open(t, root, false).Case("x", path); err == nil || !strings.Contains(err.Error(), "is outside of the project") {
				t.Errorf("%s: %v", path, err)
			}
		}
	})
	t.Run("a folder that is a link", func(t *testing.T) {
		root := project(t, nil)
		link(t, outside, filepath.Join(root, "golden"))
		tree := open(t, root, false)
		cs := caseOf(t, tree, "x", filepath.Join(root, "golden"))
		if changes, err := cs.Compare(got, false); err == nil || !strings.Contains(err.Error(), "link points outside") {
			t.Error(summaries(changes), err)
		}
		if _, err := cs.Update(got, false); err == nil {
			t.Error("a file was written outside")
		}
		if _, err := tree.Unused(filepath.Join(root, "golden")); err != nil {
			t.Errorf("the case has not completed: %v", err)
		}
	})
	t.Run("a golden that is a link", func(t *testing.T) {
		root := project(t, map[string]string{"golden/x": ""})
		link(t, filepath.Join(outside, "planner.prompt.md"), filepath.Join(root, "golden/planner.prompt.md"))
		link(t, filepath.Join(outside, "tools.json"), filepath.Join(root, "golden/tools.json"))
		tree := open(t, root, false)
		cs := caseOf(t, tree, "x", filepath.Join(root, "golden"))
		if _, err := cs.Update(got, false); err == nil || !strings.Contains(err.Error(), "link points outside") {
			t.Error(err)
		}
		if _, err := cs.Compare(nil, false); err != nil {
			t.Fatal(err)
		}
		if unused, err := tree.Unused(tree.Folders()...); unused != nil || err != nil {
			t.Error("a symbolic link counts as unused", summaries(unused), err)
		}
	})
	want := map[string]string{"planner.prompt.md": "theirs\n", "tools.json": "theirs\n"}
	if d := cmp.Diff(want, contents(t, outside)); d != "" {
		t.Error(d)
	}
}

func TestSymlinkInsideRootIsFollowed(t *testing.T) {
	root := project(t, map[string]string{"shared/p.md": "old\n", "golden/x": ""})
	link(t, "../shared/p.md", filepath.Join(root, "golden/planner.prompt.md"))
	cs := caseOf(t, open(t, root, false), "x", filepath.Join(root, "golden"))
	if changes, err := cs.Compare([]golden.Artifact{{Name: "planner.prompt.md", Text: "old\n"}}, false); err != nil || changes != nil {
		t.Fatal(summaries(changes), err)
	}
	if _, err := cs.Update([]golden.Artifact{{Name: "planner.prompt.md", Text: "new\n"}}, false); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"shared/p.md": "old\n", "golden/x": "", "golden/planner.prompt.md": "new\n"}
	if d := cmp.Diff(want, contents(t, root)); d != "" {
		t.Error(d)
	}
}

func link(t *testing.T, to, at string) {
	t.Helper()
	if err := os.Symlink(to, at); err != nil {
		t.Skip("cannot create symbolic links:", err)
	}
}

func TestFolderInsteadOfGoldenIsError(t *testing.T) {
	root := project(t, map[string]string{"golden/tools.json/x": "", "file": ""})
	tree := open(t, root, false)
	_, err := caseOf(t, tree, "x", filepath.Join(root, "golden")).Compare([]golden.Artifact{{Name: "tools.json"}}, false)
	if err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Error(err)
	}
	_, err = caseOf(t, tree, "y", filepath.Join(root, "file")).Compare([]golden.Artifact{{Name: "tools.json"}}, false)
	if err == nil || !strings.Contains(err.Error(), "golden file") {
		t.Error(err)
	}
}

func TestFailedWriteLeavesNoTempFile(t *testing.T) {
	root := project(t, map[string]string{"golden/x": ""})
	tree := open(t, root, false)
	cs := caseOf(t, tree, "x", filepath.Join(root, "golden"))
	changes, err := cs.Compare([]golden.Artifact{{Name: "tools.json", Text: "[]"}}, false)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(root, "golden/tools.json"), 0o755); err != nil { // a folder with the same name
		t.Fatal(err)
	}
	if err := changes[0].Accept(); err == nil || !strings.Contains(err.Error(), "cannot write it") {
		t.Error(err)
	}
	if d := cmp.Diff(map[string]string{"golden/x": ""}, contents(t, root)); d != "" {
		t.Error(d)
	}
}
