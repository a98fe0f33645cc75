package testcmd

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/eval/golden"
	"github.com/pexctl/pex/internal/app/failure"
)

// changedGoldens creates two cases with a changed, two missing and an unused
// golden file.
func changedGoldens(t *testing.T) (dir string, changes []golden.Change) {
	t.Helper()
	dir = t.TempDir()
	t.Chdir(dir)
	for name, text := range map[string]string{"one/planner.prompt.md": "You plan the work.\n", "one/executor.prompt.md": "gone\n"} {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	tree, err := golden.Open(dir, false)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tree.Close() })
	for _, c := range []struct {
		name string
		got  []golden.Artifact
	}{
		{"one", []golden.Artifact{{Name: "planner.prompt.md", Text: "You plan all work.\n"}, {Name: "tools.json", Text: "[]"}}},
		{"two", []golden.Artifact{{Name: "output.md", Text: "\x1b[2Jhi\n"}}},
	} {
		cs, err := tree.Case(c.name, filepath.Join(dir, c.name))
		if err != nil {
			t.Fatal(err)
		}
		found, err := cs.Compare(c.got, false)
		cs.Close()
		if err != nil {
			t.Fatal(err)
		}
		changes = append(changes, found...)
	}
	unused, err := tree.Unused(filepath.Join(dir, "one"), filepath.Join(dir, "two"))
	if err != nil {
		t.Fatal(err)
	}
	changes = append(changes, unused...)
	changes[0].Causes = []golden.Cause{{Source: dsl.Source{Path: "planner.system_prompt", File: "spec.yaml"}, Line: 41}}
	return dir, changes
}

func TestReviewAppliesTheAnswers(t *testing.T) {
	for _, c := range []struct {
		name, answers               string
		accepted, rejected, skipped int
		left                        string // the files, by their first words
	}{
		{"nobody answers", "", 0, 0, 4, "one/executor.prompt.md=gone one/planner.prompt.md=You plan the work."},
		{"accepted one by one", "a\na\na\na\n", 4, 0, 0, "one/planner.prompt.md=You plan all work. one/tools.json=[] two/output.md=\x1b[2Jhi"},
		{"in words, by Windows", "accept\r\nreject\r\nskip\r\nquit\r\n", 1, 1, 2, "one/executor.prompt.md=gone one/planner.prompt.md=You plan all work."},
		{"all of a case, then none", "A\nr\ns\n", 2, 1, 1, "one/executor.prompt.md=gone one/planner.prompt.md=You plan all work. one/tools.json=[]"},
		{"asked again", "\nx\ny\nr\nq\n", 0, 1, 3, "one/executor.prompt.md=gone one/planner.prompt.md=You plan the work."},
		{"what is unused is removed", "s\ns\ns\nA\n", 1, 0, 3, "one/planner.prompt.md=You plan the work."},
		{"where it is the same", "e\nA\nq\n", 2, 0, 2, "one/executor.prompt.md=gone one/planner.prompt.md=You plan all work. one/tools.json=[]"},
		{"input ends", "r\na", 1, 1, 2, "one/executor.prompt.md=gone one/planner.prompt.md=You plan the work. one/tools.json=[]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir, changes := changedGoldens(t)
			var out bytes.Buffer
			r := reviewing(c.answers, &out)
			if err := r.walk(t.Context(), changes); err != nil {
				t.Fatal(err)
			}
			if r.accepted != c.accepted || r.rejected != c.rejected || r.skipped != c.skipped {
				t.Errorf("accepted %d, rejected %d, skipped %d", r.accepted, r.rejected, r.skipped)
			}
			if got := filesIn(t, dir); got != c.left {
				t.Errorf("left %q, not %q", got, c.left)
			}
		})
	}
}

func TestReviewShowsTheDiffAndItsCause(t *testing.T) {
	_, changes := changedGoldens(t)
	var out bytes.Buffer
	if err := reviewing("s\ns\ns\ns\n", &out).walk(t.Context(), changes); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"[1/4] one: planner.prompt.md changed\n  one/planner.prompt.md\n  because of spec.yaml:41 (planner.system_prompt)\n",
		"\x1b[31m-You plan \x1b[7mthe\x1b[27m work.",
		"[2/4] one: tools.json is new\n", "+[]",
		"␛[2Jhi", "A = accept all of this test",
		"[4/4] executor.prompt.md is no longer used: accept to remove it\n", "-gone", "A = remove all unused files",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not shown in\n%s", want, out.String())
		}
	}
}

// One answer accepts equal changes of several golden files.
func TestReviewAcceptsEqualChangesTogether(t *testing.T) {
	dir := t.TempDir()
	tree, err := golden.Open(dir, false)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tree.Close() })
	var changes []golden.Change
	for i, texts := range [][2]string{{"a\nb\n", "a\nB\n"}, {"x\n", "y\n"}, {"z\nb\n", "z\nB\n"}} {
		name := fmt.Sprint(i)
		if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name, "planner.prompt.md"), []byte(texts[0]), 0o644); err != nil {
			t.Fatal(err)
		}
		cs, err := tree.Case(name, filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		found, err := cs.Compare([]golden.Artifact{{Name: "planner.prompt.md", Text: texts[1]}}, false)
		if err != nil {
			t.Fatal(err)
		}
		changes = append(changes, found...)
	}
	var out bytes.Buffer
	r := reviewing("e\nr\n", &out)
	if err := r.walk(t.Context(), changes); err != nil || r.accepted != 2 || r.rejected != 1 || r.skipped != 0 {
		t.Errorf("accepted %d, rejected %d, skipped %d: %v", r.accepted, r.rejected, r.skipped, err)
	}
	for _, want := range []string{"e = accept the same change in all 2 golden files", "[2/3]"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not shown in\n%s", want, out.String())
		}
	}
	if strings.Contains(out.String(), "[3/3]") {
		t.Error("what was accepted is asked about")
	}
	for name, want := range map[string]string{"0": "a\nB\n", "1": "x\n", "2": "z\nB\n"} {
		if got, err := os.ReadFile(filepath.Join(dir, name, "planner.prompt.md")); err != nil || string(got) != want {
			t.Errorf("%s holds %q, %v", name, got, err)
		}
	}
}

// A signal ends the review, also while it waits for an answer.
func TestReviewCanBeInterrupted(t *testing.T) {
	_, changes := changedGoldens(t)
	ctx, stop := context.WithCancel(t.Context())
	in, out := io.Pipe()
	defer out.Close()
	r := reviewing("", io.Discard)
	r.in.In = bufio.NewReader(in)
	stop()
	if err := r.walk(ctx, changes); !errors.Is(err, context.Canceled) || r.skipped != 4 {
		t.Errorf("skipped %d: %v", r.skipped, err)
	}
}

func TestReviewRequiresATerminal(t *testing.T) {
	_, changes := changedGoldens(t)
	left, err := review(t.Context(), ui.NewCall(&ui.Env{Stdin: strings.NewReader("A\nA\nA\n"), Stdout: io.Discard, Stderr: io.Discard}, cli.NewContext(&cli.App{}, flag.NewFlagSet("test", flag.ContinueOnError), nil)), changes)
	var e *failure.Error
	var detail *failure.Detail
	if left != 4 || !errors.As(err, &e) || e.Kind != failure.Caller || !errors.As(err, &detail) || !strings.Contains(detail.Hint, "--update") {
		t.Errorf("got %v", err)
	}
}

func TestReviewReportsUnwritableFiles(t *testing.T) {
	dir, changes := changedGoldens(t)
	if err := os.MkdirAll(filepath.Join(dir, "one/tools.json"), 0o755); err != nil { // a folder in its place
		t.Fatal(err)
	}
	r := reviewing("A\n", io.Discard)
	err := r.walk(t.Context(), changes)
	if err == nil || !strings.Contains(err.Error(), "tools.json") || r.accepted != 1 {
		t.Errorf("accepted %d: %v", r.accepted, err)
	}
}

func reviewing(answers string, out io.Writer) *reviewer {
	return &reviewer{
		in:  &ui.Person{In: bufio.NewReader(strings.NewReader(answers)), Out: out},
		out: out, color: true, safe: func(s string) string { return strings.ReplaceAll(s, "\x1b", "␛") },
	}
}

// filesIn lists the files of a folder with their shortened content.
func filesIn(t *testing.T, dir string) string {
	t.Helper()
	var out []string
	for _, name := range []string{"one/executor.prompt.md", "one/planner.prompt.md", "one/tools.json", "two/output.md"} {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, name+"="+strings.TrimSpace(string(b)))
	}
	return strings.Join(out, " ")
}
