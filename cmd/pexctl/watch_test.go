package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
)

// edit replaces a text in a file, and makes the file recent enough for the watch.
func edit(t *testing.T, file, before, after string) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil || !strings.Contains(string(b), before) {
		t.Fatalf("%s has no %q: %v", file, before, err)
	}
	at := time.Now().Add(time.Duration(len(b)+len(after)) * time.Second)
	err = errors.Join(os.WriteFile(file, []byte(strings.Replace(string(b), before, after, 1)), 0o600), os.Chtimes(file, at, at))
	if err != nil {
		t.Fatal(err)
	}
}

// repeated runs a command with --watch and checks the files after each of the
// edits, and once without one. It returns the output of each run.
func repeated(t *testing.T, args []string, edits ...func()) (rounds []string, err error) {
	t.Helper()
	var written bytes.Buffer
	out := ui.NewOutput(&written)
	env := newEnv(streams{strings.NewReader(""), out, out})
	settle := false
	env.Pause = func(context.Context) error {
		if settle = !settle; !settle {
			return nil
		}
		if len(edits) == 0 {
			return errors.New("over")
		}
		edits[0]()
		edits = edits[1:]
		return nil
	}
	app := newApp(env)
	arranged, err := ui.Arrange(app, append(args, "--watch"))
	if err != nil {
		t.Fatal(err)
	}
	err = app.Run(append([]string{"pexctl"}, arranged...))
	return strings.Split(written.String(), "changed: "), err
}

// sample copies a sample spec to a temporary folder.
func sample(t *testing.T, name string) {
	t.Helper()
	from, err := filepath.Abs("../../specs/" + name)
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("CI", "")
	t.Chdir(t.TempDir())
	t.Setenv("PEX_HOME", filepath.Join(t.TempDir(), "home"))
	if err := os.CopyFS(name, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
}

func TestWatchedTestsRunAgain(t *testing.T) {
	sample(t, "hello")
	rounds, err := repeated(t, []string{"test", "hello"},
		func() {},
		func() { edit(t, "hello/spec.yaml", "planner:", "planer:") },
		func() { edit(t, "hello/spec.yaml", "planer:", "planner:") },
	)
	if err != nil || len(rounds) != 3 {
		t.Fatalf("%d runs, %v: %q", len(rounds), err, rounds)
	}
	if !strings.Contains(rounds[1], `unknown key "planer"`) || !strings.HasPrefix(rounds[1], "hello/spec.yaml\n") || !strings.Contains(rounds[1], "files for changes; stop with Ctrl-C") {
		t.Errorf("%q", rounds[1])
	}
}

func TestWatchedVetRunsAgain(t *testing.T) {
	sample(t, "hello")
	rounds, err := repeated(t, []string{"vet", "hello"}, func() { edit(t, "hello/live.yaml", "llms:", "lms:") })
	if err != nil || len(rounds) != 2 || !strings.HasPrefix(rounds[1], "hello/live.yaml\n") {
		t.Fatalf("%v: %q", err, rounds)
	}
}

func TestWatchedEvaluationRunsWhatFailedOrChanged(t *testing.T) {
	sample(t, "hello")
	rounds, err := repeated(t, []string{"eval", "hello/suite.yaml"},
		func() {
			edit(t, "hello/evals/cases.csv", "399.415", "399.4")
			edit(t, "hello/evals/cases.csv", "237.5", "237.6")
		},
		func() { edit(t, "hello/evals/cases.csv", "237.6", "237.5") },
		func() { edit(t, "hello/evals/cases.csv", "399.4", "399.415") },
		func() { edit(t, "hello/spec.yaml", "planner:", "# the same\nplanner:") },
	)
	if err != nil || len(rounds) != 5 {
		t.Fatalf("%d runs, %v: %q", len(rounds), err, rounds)
	}
	var got []string
	for _, round := range rounds {
		for line := range strings.Lines(round) {
			if strings.Contains(line, " trials in ") || strings.Contains(line, "the next change runs") {
				before, _, _ := strings.Cut(strings.TrimSpace(line), " in ")
				got = append(got, before)
			}
		}
	}
	const none, all = "no case failed; the next change runs all cases", "6 cases, 12 trials"
	want := []string{
		all, none,
		"2 cases, 4 trials", "2 cases failed; the next change runs only what failed or changed",
		"2 cases, 4 trials", "1 case failed; the next change runs only what failed or changed",
		"1 case, 2 trials", none,
		all, none,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestWatchedEvaluationStaysWithinItsBudget(t *testing.T) {
	sample(t, "hello")
	edit(t, "hello/suite.yaml", "llms.main.cost: {input: 0, output: 0}", "llms.main.cost: {input: 1, output: 1}")
	change := func() { edit(t, "hello/spec.yaml", "planner:", "# the same\nplanner:") }
	rounds, err := repeated(t, []string{"eval", "hello/suite.yaml", "--max-cost", "0.032"}, change, change, change, change)
	if err == nil || !strings.Contains(err.Error(), " of $0.0320 are spent, and one more trial is likely to exceed --max-cost") {
		t.Errorf("%v", err)
	}
	if len(rounds) != 2 || !strings.Contains(rounds[0], " of $0.0320 since --watch began") || !strings.Contains(rounds[1], "about $0.0157") {
		t.Errorf("%q", rounds)
	}

	edit(t, "hello/suite.yaml", "llms.main.options: {file: evals/replies.yaml}", "llms.main: {provider: openai, model: m, base_url: 'http://127.0.0.1:1', cost: {input: 1, output: 1}}")
	edit(t, "hello/suite.yaml", "llms.main.cost: {input: 1, output: 1}", "planner.llm: main")
	if _, err := repeated(t, []string{"eval", "hello/suite.yaml"}, change); err == nil || !strings.Contains(err.Error(), "bound what that costs in all by --max-cost USD") {
		t.Errorf("%v", err)
	}
}

func TestWatchRejectsWhatItCannotRepeat(t *testing.T) {
	sample(t, "hello")
	for _, args := range [][]string{
		{"test", "hello", "--update"},
		{"test", "hello", "-o", "json"},
		{"vet", "hello", "-o", "json"},
		{"eval", "hello/suite.yaml", "--id", "x"},
		{"eval", "hello/suite.yaml", "--resume", "last"},
		{"eval", "hello/suite.yaml", "--dry-run"},
	} {
		if _, err := repeated(t, args); err == nil || !strings.Contains(err.Error(), "--watch") {
			t.Errorf("%v: %v", args, err)
		}
	}
}
