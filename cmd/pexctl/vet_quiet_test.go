package main

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/dsl/specfs"
)

// meantSo are the warnings about files that are correct, with the reason.
var meantSo = map[string][]string{
	// The case shows that an unfinished write is not repeated; no one approves it.
	"testdata/contract/resume/spec.yaml": {"PEX073"},
	// The case has no root, which vet requires and a run does not.
	"testdata/contract/deny/spec.yaml": {"PEX012"},
	// The case shows which of two parameters a template means; the warning says
	// that they are easy to confuse.
	"testdata/contract/dotted-names/spec.yaml": {"PEX034"},
}

// brokenSo are folders with files that are broken on purpose.
var brokenSo = []string{"testdata/contract/vet-errors", "testdata/contract/vet-below/below"}

// A false alarm is worse than a missing warning, because users stop reading them.
func TestVetHasNoFalseAlarms(t *testing.T) {
	oneGoroutine(t)
	t.Setenv("PEX_HOME", t.TempDir())
	t.Chdir("../..")
	vetted := 0
	for _, root := range []string{"specs", "testdata/contract"} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if d != nil && d.IsDir() && slices.Contains(brokenSo, filepath.ToSlash(path)) {
				return filepath.SkipDir
			}
			if err != nil || d.IsDir() || filepath.Ext(path) != ".yaml" {
				return err
			}
			if kind, err := specfs.Kind(path); err != nil || kind == "" {
				return err
			}
			vetted++
			if d := cmp.Diff(meantSo[path], reportedOf(t, path)); d != "" {
				t.Errorf("%s: %s", path, d)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if vetted < 40 {
		t.Errorf("only %d files were vetted", vetted)
	}
}

// reportedOf returns the codes that vet reports for a file and what it names.
func reportedOf(t *testing.T, path string) (codes []string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	run([]string{"vet", path, "-o", "json"}, streams{strings.NewReader(""), &stdout, &stderr})
	var got struct{ Diagnostics []diag.Diagnostic }
	if err := json.Unmarshal(stdout.Bytes(), &got); err != nil {
		t.Fatalf("%s: %v\n%s", path, err, stderr.String())
	}
	for _, d := range got.Diagnostics {
		if _, err := os.Stat(d.File); err == nil && d.File != path && slices.Contains(meantSo[d.File], string(d.Code)) {
			continue // reported for that file
		}
		codes = append(codes, string(d.Code))
		t.Logf("%s", d)
	}
	return codes
}
