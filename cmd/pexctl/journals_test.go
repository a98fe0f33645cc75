package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pexctl/pex/engine/journal"
)

// Results of resuming the runs of internal/tools/keep-journals with the current
// version.
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

func TestJournalsOfReleasedVersionsResume(t *testing.T) {
	versions, err := filepath.Glob("../../testdata/journals/*/answered*")
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

// The recorded end of a run does not change, even if a later version would end it
// differently.
func TestShowUsesTheRecordedEnd(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(filepath.Join(dir, "runs"), os.DirFS("../../testdata/journals/0.1.0")); err != nil {
		t.Fatal(err)
	}
	home, err := journal.OpenHome(dir, journal.Sync)
	if err != nil {
		t.Fatal(err)
	}
	f, err := home.Open("answered")
	if err != nil {
		t.Fatal(err)
	}
	f.SetHead([]byte(`{"run_id":"answered","status":"failed","stop_reason":{"code":"output_invalid","message":"too long"}}`))
	if err := errors.Join(f.Close(), home.Close()); err != nil {
		t.Fatal(err)
	}
	exit, out, errs := pexctl("runs", "show", "answered", "--home", dir, "-o", "json")
	var got struct {
		Status, Error string
		StopReason    struct{ Code, Message string } `json:"stop_reason"`
		Warnings      []string
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil || exit != 0 {
		t.Fatal(exit, err, errs)
	}
	if got.Status != "failed" || got.StopReason.Code != "output_invalid" || got.Error != "too long" || len(got.Warnings) == 0 || !strings.Contains(got.Warnings[len(got.Warnings)-1], "would end it as completed (answered)") {
		t.Errorf("%+v", got)
	}
	if exit, _, errs := pexctl("resume", "answered", "--home", dir); exit != 1 || !strings.Contains(errs, "failed: output_invalid: too long") {
		t.Errorf("resume: exit %d, %s", exit, errs)
	}
}

func pexctl(args ...string) (exit int, out, errs string) {
	var o, e bytes.Buffer
	exit = run(args, streams{strings.NewReader(""), &o, &e})
	return exit, o.String(), e.String()
}
