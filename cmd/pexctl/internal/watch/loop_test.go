package watch

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// folder is a folder of files whose times are set, so that no test waits.
type folder struct {
	t   *testing.T
	dir string
	now time.Time
}

func newFolder(t *testing.T) *folder {
	return &folder{t, t.TempDir(), time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC)}
}

func (f *folder) write(name, text string) {
	f.t.Helper()
	path := filepath.Join(f.dir, name)
	f.now = f.now.Add(time.Second)
	err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600), os.Chtimes(path, f.now, f.now))
	if err != nil {
		f.t.Fatal(err)
	}
}

func (f *folder) remove(name string) {
	if err := os.Remove(filepath.Join(f.dir, name)); err != nil {
		f.t.Fatal(err)
	}
}

var errOver = errors.New("over")

// watched runs a loop over spec.yaml, prompt.md and tests/, and returns the
// changed files before each run. pauses are called between the checks; work is
// called during the n-th run.
func (f *folder) watched(work func(n int), pauses ...func()) (rounds [][]string) {
	l := loop{pause: func(context.Context) error {
		if len(pauses) == 0 {
			return errOver
		}
		if pauses[0] != nil {
			pauses[0]()
		}
		pauses = pauses[1:]
		return nil
	}}
	l.run(f.t.Context(), func(changed []string, files *Files) {
		names := []string{}
		for _, path := range changed {
			rel, _ := filepath.Rel(f.dir, path)
			names = append(names, rel)
		}
		rounds = append(rounds, names)
		files.Add(filepath.Join(f.dir, "spec.yaml"), filepath.Join(f.dir, "prompt.md"), filepath.Join(f.dir, "tests"))
		if work != nil {
			work(len(rounds))
		}
	})
	return rounds
}

func TestLoopRunsAgainOnceFilesChangedAndSettled(t *testing.T) {
	f := newFolder(t)
	f.write("spec.yaml", "1")
	f.write("tests/a/case.yaml", "1")
	got := f.watched(nil,
		nil, nil, // nothing happens
		func() { f.write("spec.yaml", "2") },
		func() { f.write("prompt.md", "new") }, // still being written
		nil,
		func() { f.write("tests/b/case.yaml", "1") }, nil,
		func() { f.write("tests/.case.yaml.swp", "1") }, nil, // of an editor
		func() { f.remove("tests/a/case.yaml"); f.write("other.yaml", "1") }, nil,
	)
	want := [][]string{{}, {"prompt.md", "spec.yaml"}, {"tests/b/case.yaml"}, {"tests/a/case.yaml"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestLoopSeesChangesDuringARunAndForgetsThoseTakenBack(t *testing.T) {
	f := newFolder(t)
	f.write("spec.yaml", "1")
	got := f.watched(func(n int) {
		if n == 2 {
			f.write("spec.yaml", "3")
		}
	},
		func() { f.write("spec.yaml", "2") }, nil, // the second run changes it again
		nil, nil, // third run
		func() { f.write("prompt.md", "1") }, func() { f.remove("prompt.md") }, nil, nil,
	)
	if diff := cmp.Diff([][]string{{}, {"spec.yaml"}, {"spec.yaml"}}, got); diff != "" {
		t.Error(diff)
	}
}

func TestLoopEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	n := 0
	loop{pause: tick}.run(ctx, func([]string, *Files) {
		n++
		cancel()
	})
	if n != 1 {
		t.Errorf("%d runs", n)
	}
}
