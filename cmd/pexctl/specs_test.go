package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pexctl/pex/engine/goldentest"
)

// decisions are the answers for specs that wait for one.
var decisions = map[string]string{"refund-desk": "step.s3/turn.1/tool.0.approval=approve"}

// recorded are the cassettes of specs whose tools may be missing on a machine.
// The end-to-end tests run them for real.
var recorded = map[string]string{"mcp-files": "tests/replay/cassette.jsonl"}

// TestEverySpecRunsToItsAnswer runs each folder of specs/ as its README
// describes: with a scripted model and real tools, and the recorded answer. A
// script matches only the real results of tools, so a changed tool fails the
// test.
func TestEverySpecRunsToItsAnswer(t *testing.T) {
	specs, err := filepath.Glob("../../specs/*/spec.yaml")
	if err != nil || len(specs) < 5 {
		t.Fatalf("specs: %v %v", specs, err)
	}
	for _, spec := range specs {
		name := filepath.Base(filepath.Dir(spec))
		t.Run(name, func(t *testing.T) {
			goldentest.File(t, "specs/"+name+".txt", answerOf(t, filepath.Dir(spec), decisions[name], recorded[name]))
		})
		t.Run(name+" is clean", func(t *testing.T) {
			var out, found bytes.Buffer
			if code := run([]string{"vet", filepath.Dir(spec)}, streams{strings.NewReader(""), &out, &found}); code != 0 || strings.Contains(found.String(), "warning PEX") {
				t.Errorf("exit %d\n%s", code, found.String())
			}
		})
	}
}

// answerOf runs a copy of a spec's folder, which the spec may write to, and
// resumes the run with the decision if it waits for one. With a cassette the run
// is replayed.
func answerOf(t *testing.T, folder, decision, cassette string) string {
	t.Helper()
	spec, home := t.TempDir(), t.TempDir()
	if err := os.CopyFS(spec, os.DirFS(folder)); err != nil {
		t.Fatal(err)
	}
	begin := []string{"run", spec, "--home", home, "--run-id", "r"}
	if cassette != "" {
		begin = append(begin, "--replay", "all", "--from", filepath.Join(spec, cassette))
	}
	if decision == "" {
		return printed(t, 0, begin...)
	}
	if early := printed(t, 5, begin...); early != "" {
		t.Errorf("printed before the decision: %s", early)
	}
	return printed(t, 0, "resume", "r", "--home", home, "--answer", decision)
}

// printed returns the stdout of a command with the exit code want.
func printed(t *testing.T, want int, args ...string) string {
	t.Helper()
	var out, progress bytes.Buffer
	if code := run(args, streams{strings.NewReader(""), &out, &progress}); code != want {
		t.Fatalf("%s: exit %d, want %d\n%s", args[0], code, want, progress.String())
	}
	return out.String()
}
