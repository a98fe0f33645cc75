package specs_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/specs"
)

// TestEverySampleIsHandedOut compares the folders here with what the program
// carries: the same samples, and in each the same files.
func TestEverySampleIsHandedOut(t *testing.T) {
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
				t.Errorf("-in the folder +handed out:\n%s", diff)
			}
		})
	}
}

// below are the files of a folder, without what runs leave there.
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

func TestTextsAreForWhoeverStandsInTheFolder(t *testing.T) {
	s, ok := specs.Find("hello")
	if !ok {
		t.Fatal("there is no hello")
	}
	files, err := s.Files()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if strings.Contains(string(f.Content), "specs/hello") {
			t.Errorf("%s names the folder it came from", f.Path)
		}
		if f.Path == "README.md" && !strings.Contains(string(f.Content), "\n    pexctl run .\n") {
			t.Errorf("README.md does not say how to run it here:\n%s", f.Content)
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
