package batch_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/eval/batch"
	"github.com/pexctl/pex/eval/trial"
)

// cutLines truncates a file to its first n lines.
func cutLines(t *testing.T, dir, name string, n int) {
	t.Helper()
	path := filepath.Join(dir, name)
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	ls := bytes.SplitAfter(b, []byte("\n"))
	if err := os.WriteFile(path, bytes.Join(ls[:n], nil), 0o600); err != nil {
		t.Fatal(err)
	}
}

// A kill leaves a prefix of each file. For every prefix: trials with a row, or with a finished run, make no more
// model calls; interrupted ones make only the missing calls; and the final rows equal those of an undisturbed
// evaluation.
func TestKilledEvaluationResumesAnywhere(t *testing.T) {
	undisturbed := t.TempDir()
	p := planOf(undisturbed, 12, &oracle{}, capitals)
	p.Repeat = 2
	run(t, p)
	want := timeless(rows(t, undisturbed))
	whole := map[string][]byte{}
	for _, name := range []string{"manifest.json", "rows.jsonl", "trials.jsonl"} {
		b, err := os.ReadFile(filepath.Join(undisturbed, name))
		if err != nil {
			t.Fatal(err)
		}
		whole[name] = b
	}
	cuts := 200
	if testing.Short() {
		cuts = 20
	}
	chance := rand.New(rand.NewPCG(1, 2))
	for n := range cuts {
		dir := t.TempDir()
		left := map[string][]byte{"manifest.json": whole["manifest.json"]}
		for _, name := range []string{"rows.jsonl", "trials.jsonl"} {
			left[name] = whole[name][:chance.IntN(len(whole[name])+1)]
		}
		for name, b := range left {
			if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		m := &oracle{}
		p := p
		p.Dir, p.Variants = dir, []batch.Variant{variant("", twice, m)}
		if stop := run(t, p); stop.Why != batch.Done || stop.Passed != 24 {
			t.Fatalf("cut %d: %+v", n, stop)
		}
		if d := cmp.Diff(want, timeless(rows(t, dir))); d != "" {
			t.Fatalf("cut %d: %s", n, d)
		}
		for key := range want {
			id := fmt.Sprintf("e-1~%s~~%d", key.Case, key.Repeat)
			asked := m.keys[id+"/call0"] + m.keys[id+"/call1"]
			if most := lacks(left, key, id); asked > most {
				t.Fatalf("cut %d: %s asked %d times, but only %d replies were missing", n, id, asked, most)
			}
		}
	}
}

// lacks returns how many replies of a trial were missing when it was killed.
func lacks(left map[string][]byte, key trial.Key, id string) int {
	row := fmt.Sprintf(`{"v":1,"case":%q,"repeat":%d,`, key.Case, key.Repeat)
	for line := range bytes.Lines(left["rows.jsonl"]) {
		if bytes.HasPrefix(line, []byte(row)) && bytes.HasSuffix(line, []byte("}\n")) {
			return 0
		}
	}
	return 2 - bytes.Count(whole(left["trials.jsonl"]), []byte(`{"run":"`+id+`","v":1,"seq":3,"kind":"result"`)) -
		bytes.Count(whole(left["trials.jsonl"]), []byte(`{"run":"`+id+`","v":1,"seq":5,"kind":"result"`))
}

// whole returns the complete lines of a file.
func whole(b []byte) []byte { return b[:bytes.LastIndexByte(b, '\n')+1] }

func TestDamageIsReportedWithRecovery(t *testing.T) {
	dir, m := t.TempDir(), &oracle{}
	p := planOf(dir, 3, m, capitals)
	run(t, p)
	for _, name := range []string{"trials.jsonl", "rows.jsonl"} {
		path := filepath.Join(dir, name)
		good, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		bad := bytes.Clone(good)
		bad[len(bad)/2] ^= 1
		if err := os.WriteFile(path, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := batch.Run(t.Context(), p); !errors.Is(err, journal.ErrCorrupt) || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), "line ") {
			t.Fatal(err)
		}
		if name == "rows.jsonl" {
			all, err := batch.OpenRows(dir)
			if err != nil {
				t.Fatal(err)
			}
			for _, err = range all() {
			}
			if !errors.Is(err, journal.ErrCorrupt) {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(path, good, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Remove(filepath.Join(dir, "trials.jsonl")); err != nil { // as the message says
		t.Fatal(err)
	}
	if stop := run(t, p); stop.Passed != 3 || m.total() != 6 {
		t.Fatalf("%+v, %d calls", stop, m.total())
	}
}
