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

// results runs a script of calls and returns their results. It fails the test if temporary folders remain.
func (l *lab) results(t *testing.T, calls ...string) string {
	t.Helper()
	t.Setenv("TMPDIR", t.TempDir())
	out := l.run(t, testspec.Case{Run: &testspec.CaseRun{Replies: strings.Join(calls, "\n")}, Checks: []testspec.Check{check("\x00")}})
	if left, err := os.ReadDir(os.TempDir()); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	results, _, _ := strings.Cut(out.Problems[0].Actual, "You plan.")
	return strings.TrimSpace(results)
}

func read(path string) string { return fmt.Sprintf(`call read {"path":%q}`, path) }

func write(tool, path, text string) string {
	return fmt.Sprintf(`call %s {"path":%q,"text":%q}`, tool, path, text)
}

// A test does not modify the project: after its first write all its tools work in a copy, which is removed at the
// end.
func TestToolsThatWriteWorkInACopy(t *testing.T) {
	for _, tool := range []string{"write", "put"} {
		t.Run(tool, func(t *testing.T) {
			l := newLab(t)
			l.put(t, "spec/.git/config", "secret")
			l.put(t, "spec/deep/er/file.txt", "deep")
			got := l.results(t, read("data.txt"), write(tool, "data.txt", "after"), read("data.txt"), read("deep/er/file.txt"), read(".git/config"))
			if !strings.HasPrefix(got, "before\nwritten\nafter\ndeep\nopen ") || !strings.Contains(got, "no such file") {
				t.Errorf("got %q", got)
			}
			if now := l.get(t, "spec/data.txt"); now != "before" {
				t.Errorf("the project contains %q", now)
			}
		})
	}
}

// A tool that works in another folder of the project finds a copy of it, including earlier writes.
func TestCopyIncludesFoldersThatToolsEnter(t *testing.T) {
	l := newLab(t)
	l.put(t, "beside/file.txt", "beside")
	l.put(t, "top.txt", "top")
	got := l.results(
		t, write("write", "data.txt", "after"), read("../beside/file.txt"), write("write", "../beside/file.txt", "new"),
		read("../top.txt"), read("../beside/file.txt"), read("data.txt"),
	)
	if want := "written\nbeside\nwritten\ntop\nnew\nafter"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if l.get(t, "beside/file.txt") != "beside" || l.get(t, "top.txt") != "top" {
		t.Error("the project was modified")
	}
}

// Recordings use live tools, also in a copy.
func TestRecordingUsesLiveToolsInCopy(t *testing.T) {
	l := newLab(t)
	l.live = speaker{text: read("live") + "\n" + write("write", "x", "") + "\n" + read("live")}
	c := testspec.Case{Name: "case", Dir: l.unit.Dir, Parameters: map[string]any{"question": "why?"}, Run: &testspec.CaseRun{Cassette: l.path("t.jsonl")}}
	res, err := testcase.Record(t.Context(), &l.bench, &l.unit, &c)
	if err != nil || res.Response != "live: true\nwritten\nlive: true" {
		t.Errorf("%v, %v", res, err)
	}
	if _, err := os.Stat(l.path("spec/x")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the project was modified: %v", err)
	}
}
