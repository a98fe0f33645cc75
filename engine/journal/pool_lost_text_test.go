package journal_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/pexctl/pex/engine/journal"
)

// Cut at every byte: what is left refers to no lost text, and the runs continue.
func TestAPoolWithTextsCutAtEveryByte(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pool.jsonl")
	runs := []string{"a", "b", "c"}
	askingPool(t, path, runs...)
	b := content(t, path)
	for n := 0; n <= len(b); n++ {
		rewrite(t, path, b[:n])
		left := map[string]int{}
		for _, run := range runs {
			got, err := journal.ReadPool(path, run)
			if errors.Is(err, journal.ErrCorrupt) {
				t.Fatalf("cut at %d: %v", n, err)
			}
			same(t, got, stored(asking(t, run))[:len(got)])
			left[run] = len(got)
		}
		if n%11 == 0 || n == len(b) {
			comesBack(t, path, left)
		} else if err := journal.CheckPool(path); err != nil {
			t.Fatalf("cut at %d: %v", n, err)
		}
	}
}

// A changed byte is reported with its position, or does not matter to a run. No run is
// read with another text.
func TestEveryFlipInAPoolWithTexts(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pool.jsonl")
	runs := []string{"a", "b"}
	askingPool(t, path, runs...)
	b := content(t, path)
	position := regexp.MustCompile(`pool\.jsonl: .*line \d+ \(byte \d+\)`)
	for i := range b {
		x := bytes.Clone(b)
		x[i] ^= 1 << (i % 7)
		rewrite(t, path, x)
		if err := journal.CheckPool(path); !errors.Is(err, journal.ErrCorrupt) || !position.MatchString(err.Error()) {
			t.Fatalf("flip at %d of %d was not seen: %v", i, len(b), err)
		}
		for _, run := range runs {
			got, err := journal.ReadPool(path, run)
			want := stored(asking(t, run))
			if len(got) > len(want) {
				t.Fatalf("flip at %d: %d records", i, len(got))
			}
			same(t, got, want[:len(got)])
			if err != nil && (!errors.Is(err, journal.ErrCorrupt) || !position.MatchString(err.Error())) && len(got) > 0 {
				t.Fatalf("flip at %d: %v", i, err)
			}
		}
	}
}

func TestALostTextIsDamage(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pool.jsonl")
	askingPool(t, path, "a", "b")
	lines := bytes.SplitAfter(content(t, path), []byte("\n"))
	var texts []int
	for i, line := range lines {
		if bytes.HasPrefix(line, []byte(`{"run":"~texts"`)) {
			texts = append(texts, i)
		}
	}
	first, last := texts[0], texts[len(texts)-1]
	for name, row := range map[string]struct {
		lines      [][]byte
		open, read string
	}{
		"the first": {slices.Delete(slices.Clone(lines), first, first+1), "shared text: line %d (byte", "run b: line"},
		"the last":  {slices.Delete(slices.Clone(lines), last, last+1), fmt.Sprintf("refers to text %d, which is missing", len(texts)), "run b: line"},
		"all":       {slices.DeleteFunc(slices.Clone(lines), func(l []byte) bool { return bytes.Contains(l, []byte("~texts")) }), "refers to text 1, which is missing", "refers to text 1, which is missing"},
		"twice":     {slices.Insert(slices.Clone(lines), first, lines[first]), "shared text: line", ""},
	} {
		rewrite(t, path, bytes.Join(row.lines, nil))
		if strings.Contains(row.open, "%d") {
			row.open = fmt.Sprintf(row.open, first+1)
		}
		for what, err := range map[string]error{"opened": opened(path), "checked": journal.CheckPool(path)} {
			if !errors.Is(err, journal.ErrCorrupt) || !strings.Contains(err.Error(), row.open) {
				t.Errorf("%s, %s: %v, want %q", name, what, err, row.open)
			}
		}
		got, err := journal.ReadPool(path, "a") // it refers to none
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		same(t, got, stored(asking(t, "a")))
		got, err = journal.ReadPool(path, "b")
		if !errors.Is(err, journal.ErrCorrupt) || !strings.Contains(err.Error(), row.read) {
			t.Errorf("%s, read: %v, want %q", name, err, row.read)
		}
		same(t, got, stored(asking(t, "b"))[:len(got)])
	}
}

// A text that changes while the pool is open is not sent to a model.
func TestATextThatChangesUnderAnOpenPool(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pool.jsonl")
	askingPool(t, path, "a", "b")
	p := openPool(t, path, journal.PoolOptions{Durability: journal.Async, Done: kept})
	defer p.Close()
	b := content(t, path)
	at := bytes.LastIndex(b, []byte("Break the objective"))
	overwrite(t, path, int64(at), "Break the subjective"[:len("Break the objective")])
	if _, err := pooledRun(t, p, "b").Load(); !errors.Is(err, journal.ErrCorrupt) || !strings.Contains(err.Error(), "text 2 (byte") {
		t.Error(err)
	}
	same(t, loaded(t, pooledRun(t, p, "a")), stored(asking(t, "a")))
}

func opened(path string) error {
	p, err := journal.OpenPool(path, journal.PoolOptions{})
	if err == nil {
		err = p.Close()
	}
	return err
}

// overwrite changes bytes of a file in place.
func overwrite(t testing.TB, path string, at int64, text string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err == nil {
		_, err = f.WriteAt([]byte(text), at)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
}
