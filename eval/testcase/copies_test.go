package testcase_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/pexctl/pex/dsl/testspec"
	"github.com/pexctl/pex/eval/testcase"
)

// said is what a run on a script of calls says; nothing of it is left behind.
func (l *lab) said(t *testing.T, calls ...string) string {
	t.Helper()
	t.Setenv("TMPDIR", t.TempDir())
	out := l.run(t, testspec.Case{Run: &testspec.CaseRun{Replies: strings.Join(calls, "\n")}, Checks: []testspec.Check{check("\x00")}})
	if left, err := os.ReadDir(os.TempDir()); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	said, _, _ := strings.Cut(out.Problems[0].Actual, "You plan.")
	return strings.TrimSpace(said)
}

func read(path string) string { return fmt.Sprintf(`call read {"path":%q}`, path) }

func write(tool, path, text string) string {
	return fmt.Sprintf(`call %s {"path":%q,"text":%q}`, tool, path, text)
}

// A test writes nothing into the tree: from its first write on all its tools
// work in a copy of the spec's folder, which is gone when it ends.
func TestToolsThatWriteWorkInACopy(t *testing.T) {
	for _, tool := range []string{"write", "put"} {
		t.Run(tool, func(t *testing.T) {
			l := newLab(t)
			l.put(t, "spec/.git/config", "secret")
			l.put(t, "spec/deep/er/file.txt", "deep")
			said := l.said(t, read("data.txt"), write(tool, "data.txt", "after"), read("data.txt"), read("deep/er/file.txt"), read(".git/config"))
			if !strings.HasPrefix(said, "before\nwritten\nafter\ndeep\nopen ") || !strings.Contains(said, "no such file") {
				t.Errorf("it says %q", said)
			}
			if now := l.get(t, "spec/data.txt"); now != "before" {
				t.Errorf("the tree holds %q", now)
			}
		})
	}
}

// A tool that works elsewhere in the project finds there what the tree has, and
// what was written before.
func TestACopyGrowsWithTheFoldersThatToolsEnter(t *testing.T) {
	l := newLab(t)
	l.put(t, "beside/file.txt", "beside")
	l.put(t, "top.txt", "top")
	said := l.said(
		t, write("write", "data.txt", "after"), read("../beside/file.txt"), write("write", "../beside/file.txt", "new"),
		read("../top.txt"), read("../beside/file.txt"), read("data.txt"),
	)
	if want := "written\nbeside\nwritten\ntop\nnew\nafter"; said != want {
		t.Errorf("it says %q, want %q", said, want)
	}
	if l.get(t, "beside/file.txt") != "beside" || l.get(t, "top.txt") != "top" {
		t.Error("the tree was written to")
	}
}

// What is recorded is the world, also in a copy.
func TestARecordingIsLiveAlsoInACopy(t *testing.T) {
	l := newLab(t)
	l.live = speaker{text: read("live") + "\n" + write("write", "x", "") + "\n" + read("live")}
	c := testspec.Case{Name: "case", Dir: l.unit.Dir, Parameters: map[string]any{"question": "why?"}, Run: &testspec.CaseRun{Cassette: l.path("t.jsonl")}}
	res, err := testcase.Record(t.Context(), &l.bench, &l.unit, &c)
	if err != nil || res.Response != "live: true\nwritten\nlive: true" {
		t.Errorf("%v, %v", res, err)
	}
	if _, err := os.Stat(l.path("spec/x")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the tree was written to: %v", err)
	}
}
