package specs_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/specs"
)

// TestEverySampleIsEmbedded compares the folders with the embedded samples and
// their files.
func TestEverySampleIsEmbedded(t *testing.T) {
	here, err := filepath.Glob("*/spec.yaml")
	if err != nil || len(here) == 0 || len(here) != len(specs.List()) {
		t.Fatalf("%d folders, %d rows in README.md: %v", len(here), len(specs.List()), err)
	}
	for _, s := range specs.List() {
		t.Run(s.Name, func(t *testing.T) {
			files, err := s.Files()
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, f := range files {
				got = append(got, f.Path)
			}
			if diff := cmp.Diff(below(t, s.Name), got); diff != "" {
				t.Errorf("-in the folder +embedded:\n%s", diff)
			}
		})
	}
}

// below returns the files of a folder, without those that runs create.
func below(t *testing.T, folder string) (out []string) {
	t.Helper()
	err := filepath.WalkDir(folder, func(path string, d os.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && d.Name() == ".pex":
			return filepath.SkipDir
		case !d.IsDir() && filepath.Base(path) != "ledger.tsv":
			rel, _ := filepath.Rel(folder, path)
			out = append(out, filepath.ToSlash(rel))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestTextsAreAdaptedToACopyOfTheFolder(t *testing.T) {
	for _, s := range specs.List() {
		files, err := s.Files()
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			if text := string(f.Content); strings.HasSuffix(f.Path, "README.md") && strings.Contains(text, "<!--") {
				t.Errorf("%s: %s has a comment for tests", s.Name, f.Path)
			} else if s.Name == "hello" && strings.Contains(text, "specs/hello") {
				t.Errorf("%s names the folder it came from", f.Path)
			} else if s.Name == "hello" && f.Path == "README.md" && !strings.Contains(text, "\n    pexctl run .\n") {
				t.Errorf("README.md does not say how to run it here:\n%s", text)
			}
		}
	}
}

func TestFindKnowsNoOthers(t *testing.T) {
	for _, name := range []string{"", "nothing", "../hello", "hello/tests", "Hello"} {
		if _, ok := specs.Find(name); ok {
			t.Errorf("%q is a sample", name)
		}
	}
}
