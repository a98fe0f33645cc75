package journal_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/pexctl/pex/engine/journal"
)

// logged is the numbers that the lines of a log hold.
func logged(path string) (ns []int, err error) {
	for line, err := range journal.ReadLog(path) {
		if err != nil {
			return ns, err
		}
		var v struct{ N int }
		if err := json.Unmarshal(line.JSON, &v); err != nil {
			return ns, err
		}
		ns = append(ns, v.N)
	}
	return ns, nil
}

func reopen(t *testing.T, path string) (*journal.Log, []int) {
	t.Helper()
	var ns []int
	l, err := journal.OpenLog(path, func(line journal.Line) error {
		var v struct{ N int }
		err := json.Unmarshal(line.JSON, &v)
		ns = append(ns, v.N)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return l, ns
}

func numbered(n int) []byte { return fmt.Appendf(nil, `{"n":%d,"text":"}\n"}`, n) }

// ten makes a log of ten lines.
func ten(t *testing.T, path string) []byte {
	t.Helper()
	l, _ := reopen(t, path)
	for i := range 10 {
		at, err := l.Append(numbered(i))
		if err != nil {
			t.Fatal(err)
		}
		if err := l.Sync(); err != nil {
			t.Fatal(err)
		}
		if b, _ := os.ReadFile(path); !bytes.HasPrefix(b[at:], fmt.Appendf(nil, `{"n":%d,`, i)) {
			t.Fatalf("line %d is not at %d", i, at)
		}
	}
	if l.Lines() != 10 {
		t.Fatal(l.Lines())
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestALogCutAtEveryByteGoesOn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.jsonl")
	b := ten(t, path)
	for n := range len(b) + 1 {
		rewrite(t, path, b[:n])
		whole := bytes.Count(b[:n], []byte("\n"))
		if n < len(b) && b[n] == '\n' {
			whole++
		}
		if ns, err := logged(path); err != nil || len(ns) != whole {
			t.Fatalf("cut at %d: %v %v", n, ns, err)
		}
		if n%5 != 0 {
			continue
		}
		l, ns := reopen(t, path)
		if len(ns) != whole {
			t.Fatalf("cut at %d: %v", n, ns)
		}
		if _, err := l.Append(numbered(99)); err != nil {
			t.Fatal(err)
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		if again, err := logged(path); err != nil || !slices.Equal(again, append(ns, 99)) {
			t.Fatalf("cut at %d: %v %v", n, again, err)
		}
	}
}

func TestDamageOfALogIsNamed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.jsonl")
	b := ten(t, path)
	ls := bytes.SplitAfter(b, []byte("\n"))
	damage := map[string][]byte{
		"missing line": bytes.Join(slices.Delete(slices.Clone(ls), 3, 4), nil),
		"doubled line": bytes.Join(slices.Insert(slices.Clone(ls), 3, ls[3]), nil),
	}
	for i := range b {
		x := bytes.Clone(b)
		x[i] ^= 1 << (i % 7)
		damage[fmt.Sprint("flip at ", i)] = x
	}
	for name, x := range damage {
		rewrite(t, path, x)
		_, err := journal.OpenLog(path, func(journal.Line) error { return nil })
		if !errors.Is(err, journal.ErrCorrupt) || !strings.Contains(err.Error(), "log.jsonl: line ") {
			t.Errorf("%s: %v", name, err)
		}
		if _, rerr := logged(path); rerr == nil || rerr.Error() != err.Error() {
			t.Errorf("%s, read: %v", name, rerr)
		}
	}
}

func TestALogTakesNothingBehindAFailure(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.jsonl")
	disk := &faulty{failWrite: 2, part: 10, err: syscall.ENOSPC}
	l, err := journal.OpenLogThrough(path, nil, func(d journal.Disk) journal.Disk { disk.Disk = d; return disk })
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.Append([]byte("no object")); err == nil {
		t.Fatal("a line that is no object")
	}
	for i := range 2 {
		if _, err := l.Append(numbered(i)); err != nil {
			t.Fatal(err)
		}
		if err := l.Sync(); (err != nil) != (i == 1) || i == 1 && !errors.Is(err, journal.ErrFull) {
			t.Fatal(err)
		}
	}
	if _, err := l.Append(numbered(2)); !errors.Is(err, journal.ErrFull) || l.Err() == nil {
		t.Fatal(err)
	}
	if err := l.Close(); !errors.Is(err, journal.ErrFull) {
		t.Fatal(err)
	}
	if ns, err := logged(path); err != nil || !slices.Equal(ns, []int{0}) {
		t.Fatal(ns, err)
	}
}

func TestManyAppendToALogAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.jsonl")
	l, _ := reopen(t, path)
	var all sync.WaitGroup
	for i := range 200 {
		all.Go(func() {
			if _, err := l.Append(numbered(i)); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	ns, err := logged(path)
	if slices.Sort(ns); err != nil || len(ns) != 200 || ns[199] != 199 {
		t.Fatal(ns, err)
	}
}
