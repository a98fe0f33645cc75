package golden_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/eval/golden"
)

func TestNothingLeavesTheRoot(t *testing.T) {
	outside := project(t, map[string]string{"planner.prompt.md": "theirs\n", "tools.json": "theirs\n"})
	got := []golden.Artifact{{Name: "planner.prompt.md", Text: "new\n"}}
	t.Run("a path out of it", func(t *testing.T) {
		root := project(t, nil)
		for _, path := range []string{outside, filepath.Dir(root), filepath.Join(root, "..", "x"), "golden"} {
			if _, err := open(t, root, false).Case("x", path); err == nil || !strings.Contains(err.Error(), "leads out of the project") {
				t.Errorf("%s: %v", path, err)
			}
		}
	})
	t.Run("a folder that is a link", func(t *testing.T) {
		root := project(t, nil)
		link(t, outside, filepath.Join(root, "golden"))
		tree := open(t, root, false)
		cs := caseOf(t, tree, "x", filepath.Join(root, "golden"))
		if changes, err := cs.Compare(got, false); err == nil || !strings.Contains(err.Error(), "link leads out") {
			t.Error(told(changes), err)
		}
		if _, err := cs.Update(got, false); err == nil {
			t.Error("it was written")
		}
		if _, err := tree.Unused(filepath.Join(root, "golden")); err != nil {
			t.Errorf("its case has not ended: %v", err)
		}
	})
	t.Run("a golden that is a link", func(t *testing.T) {
		root := project(t, map[string]string{"golden/x": ""})
		link(t, filepath.Join(outside, "planner.prompt.md"), filepath.Join(root, "golden/planner.prompt.md"))
		link(t, filepath.Join(outside, "tools.json"), filepath.Join(root, "golden/tools.json"))
		tree := open(t, root, false)
		cs := caseOf(t, tree, "x", filepath.Join(root, "golden"))
		if _, err := cs.Update(got, false); err == nil || !strings.Contains(err.Error(), "link leads out") {
			t.Error(err)
		}
		if _, err := cs.Compare(nil, false); err != nil {
			t.Fatal(err)
		}
		if unused, err := tree.Unused(tree.Folders()...); unused != nil || err != nil {
			t.Error("a link is none of ours", told(unused), err)
		}
	})
	want := map[string]string{"planner.prompt.md": "theirs\n", "tools.json": "theirs\n"}
	if d := cmp.Diff(want, contents(t, outside)); d != "" {
		t.Error(d)
	}
}

func TestALinkBelowTheRootIsFollowedAndReplaced(t *testing.T) {
	root := project(t, map[string]string{"shared/p.md": "old\n", "golden/x": ""})
	link(t, "../shared/p.md", filepath.Join(root, "golden/planner.prompt.md"))
	cs := caseOf(t, open(t, root, false), "x", filepath.Join(root, "golden"))
	if changes, err := cs.Compare([]golden.Artifact{{Name: "planner.prompt.md", Text: "old\n"}}, false); err != nil || changes != nil {
		t.Fatal(told(changes), err)
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
		t.Skip("no symbolic links here:", err)
	}
}

func TestAFolderInAGoldensPlaceIsAnError(t *testing.T) {
	root := project(t, map[string]string{"golden/tools.json/x": "", "file": ""})
	tree := open(t, root, false)
	_, err := caseOf(t, tree, "x", filepath.Join(root, "golden")).Compare([]golden.Artifact{{Name: "tools.json"}}, false)
	if err == nil || !strings.Contains(err.Error(), "no regular file") {
		t.Error(err)
	}
	_, err = caseOf(t, tree, "y", filepath.Join(root, "file")).Compare([]golden.Artifact{{Name: "tools.json"}}, false)
	if err == nil || !strings.Contains(err.Error(), "golden file") {
		t.Error(err)
	}
}

func TestAFailedWriteLeavesNothingBehind(t *testing.T) {
	root := project(t, map[string]string{"golden/x": ""})
	tree := open(t, root, false)
	cs := caseOf(t, tree, "x", filepath.Join(root, "golden"))
	changes, err := cs.Compare([]golden.Artifact{{Name: "tools.json", Text: "[]"}}, false)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(root, "golden/tools.json"), 0o755); err != nil { // a folder took its place
		t.Fatal(err)
	}
	if err := changes[0].Accept(); err == nil || !strings.Contains(err.Error(), "is not written") {
		t.Error(err)
	}
	if d := cmp.Diff(map[string]string{"golden/x": ""}, contents(t, root)); d != "" {
		t.Error(d)
	}
}
