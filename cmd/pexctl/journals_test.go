package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What became of the runs that internal/tools/keep-journals leaves, when a
// later version takes them up.
var keptRuns = []struct {
	run  string
	args [][]string
	exit []int
}{
	{"answered", [][]string{{}}, []int{0}},
	{"raised", [][]string{{}}, []int{0}},
	{"killed", [][]string{{}}, []int{0}},
	{"limit", [][]string{{}, {"--set", "limits.max_tool_calls=9"}}, []int{4, 0}},
	{"waiting", [][]string{{}, {"--answer", "step.b/turn.1/tool.0.approval=approve"}}, []int{5, 0}},
	{"doubt", [][]string{{}, {"--set", "limits.max_steps=30"}, {"--answer", "step.b/turn.1/tool.0=redo"}}, []int{5, 2, 0}},
}

func TestJournalsOfReleasedVersionsGoOn(t *testing.T) {
	versions, err := filepath.Glob("../../testdata/journals/*/answered")
	if err != nil || len(versions) == 0 {
		t.Fatal("no journals are kept:", err)
	}
	for _, v := range versions {
		kept := filepath.Dir(v)
		t.Run(filepath.Base(kept), func(t *testing.T) {
			home := t.TempDir()
			if err := os.CopyFS(filepath.Join(home, "runs"), os.DirFS(kept)); err != nil {
				t.Fatal(err)
			}
			for _, k := range keptRuns {
				exit, out, _ := pexctl("runs", "show", k.run, "--home", home)
				if exit != 0 || !strings.Contains(out, k.run) {
					t.Errorf("runs show %s: exit %d: %s", k.run, exit, out)
				}
				for i, args := range k.args {
					exit, out, errs := pexctl(append([]string{"resume", k.run, "--home", home, "-q"}, args...)...)
					if exit != k.exit[i] || exit == 0 && out != "5 and 6\n" {
						t.Fatalf("resume %s %v: exit %d, want %d: %s%s", k.run, args, exit, k.exit[i], out, errs)
					}
				}
			}
		})
	}
}

func pexctl(args ...string) (exit int, out, errs string) {
	var o, e bytes.Buffer
	exit = run(args, streams{strings.NewReader(""), &o, &e})
	return exit, o.String(), e.String()
}
