package journal_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pexctl/pex/engine/journal"
)

// leave puts a file there as an earlier process would have left it.
func leave(t *testing.T, dir, run string, b []byte) {
	t.Helper()
	folder := filepath.Join(dir, "runs")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, run+".jsonl"), b, 0o600); err != nil {
		t.Fatal(err)
	}
}

func home(t testing.TB, dir string, d journal.Durability) *journal.Home {
	t.Helper()
	h, err := journal.OpenHome(dir, d)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Close() }) // waits for background syncs
	return h
}

// load opens a run that may or may not exist.
func load(t *testing.T, h *journal.Home, run string) (*journal.File, []journal.Record) {
	t.Helper()
	f, err := h.Create(run)
	if _, exists := errors.AsType[*journal.ExistsError](err); exists {
		f, err = h.Open(run)
	}
	if err != nil {
		t.Fatal(err)
	}
	recs, err := f.Load()
	if err != nil {
		t.Fatal(err)
	}
	return f, recs
}

func appended(t testing.TB, f *journal.File, recs ...journal.Record) {
	t.Helper()
	ticket, err := f.Append(recs)
	if err == nil {
		err = ticket.Wait()
	}
	if err != nil {
		t.Fatal(err)
	}
}

// unsynced saves the time of the syncs, of which no test sees anything.
type unsynced struct{ journal.Disk }

func (unsynced) Sync() error { return nil }

// Cut at every byte: the whole lines before it are there, and a further record
// can be appended and read.
func TestCutAtEveryByteIsAPrefix(t *testing.T) {
	b, want := sample(t)
	dir := t.TempDir()
	h := home(t, dir, journal.Sync)
	h.Through(func(d journal.Disk) journal.Disk { return unsynced{d} })
	for n := 0; n <= len(b); n++ {
		whole := bytes.Count(b[:n], []byte("\n"))
		justNewline := n < len(b) && b[n] == '\n'
		if justNewline {
			whole++
		}
		c, err := journal.Decode(b[:n])
		if err != nil {
			t.Fatalf("cut at %d: %v", n, err)
		}
		same(t, c.Records, want[:whole])
		if n%13 != 0 && !justNewline {
			continue // the files of all cuts would take long
		}
		run := fmt.Sprint("r", n)
		leave(t, dir, run, b[:n])
		f, recs := load(t, h, run)
		same(t, recs, want[:whole])
		if torn := n > 0 && b[n-1] != '\n' && !justNewline; (f.Dropped() > 0) != torn {
			t.Fatalf("cut at %d: dropped %d", n, f.Dropped())
		}
		more := journal.Record{Seq: uint64(whole + 1), Kind: journal.Marker}
		appended(t, f, more)
		if recs, err = f.Load(); err != nil {
			t.Fatalf("cut at %d, then appended: %v", n, err)
		}
		same(t, recs, append(want[:whole:whole], more))
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// Every bit of every byte: of the whole file, and of torn last lines.
func TestEveryFlipIsSeen(t *testing.T) {
	_, want := sample(t)
	want = want[:6]
	b := encodeLines(t, want, &journal.Chain{})
	lastLine := bytes.LastIndexByte(b[:len(b)-1], '\n') + 1
	for name, whole := range map[string][]byte{
		"whole": b, "torn": b[:len(b)-9], "hardly begun": b[:lastLine+3], "zeros behind": append(bytes.Clone(b), 0, 0, 0),
	} {
		t.Run(name, func(t *testing.T) {
			tail := bytes.LastIndexByte(whole, '\n') + 1
			x, from := bytes.Clone(whole), 0
			if name != "whole" {
				from = max(0, tail-40) // what stands before is as in the whole file
			}
			for i := from; i < len(x); i++ {
				for bit := range 8 {
					x[i] ^= 1 << bit
					c, err := journal.Decode(x)
					if !errors.Is(err, journal.ErrCorrupt) {
						if err != nil || i < tail {
							t.Fatalf("flip of bit %d at byte %d was not seen: %v", bit, i, err)
						}
						same(t, c.Records, want[:bytes.Count(whole, []byte("\n"))])
					}
					x[i] ^= 1 << bit
				}
			}
		})
	}
}

func TestMissingDoubledAndSwappedLinesAreNamed(t *testing.T) {
	b, _ := sample(t)
	ls := bytes.SplitAfter(b, []byte("\n"))
	for name, row := range map[string]struct {
		lines []int
		want  string
	}{
		"inner line missing":  {[]int{0, 1, 3, 4}, "line 3 (byte"},
		"says what's missing": {[]int{0, 1, 3, 4}, "seq 3 to 3 missing"},
		"two lines missing":   {[]int{0, 1, 4}, "seq 3 to 4 missing"},
		"first line missing":  {[]int{1, 2}, "line 1 (byte 0)"},
		"line doubled":        {[]int{0, 1, 2, 2, 3}, "line 4 (byte"},
		"lines swapped":       {[]int{0, 2, 1, 3}, "line 2 (byte"},
		"file doubled":        {[]int{0, 1, 2, 3, 0, 1}, "line 5"},
	} {
		t.Run(name, func(t *testing.T) {
			var x []byte
			for _, i := range row.lines {
				x = append(x, ls[i]...)
			}
			c, err := journal.Decode(x)
			if !errors.Is(err, journal.ErrCorrupt) || !strings.Contains(err.Error(), row.want) {
				t.Fatalf("want %q, got %v", row.want, err)
			}
			if c.Good > len(x) || len(c.Records) == len(row.lines) {
				t.Fatalf("%d records stand before the damage", len(c.Records))
			}
		})
	}
}

func TestADamagedRunDoesNotOpenButIsReadUpToTheDamage(t *testing.T) {
	b, want := sample(t)
	b[len(b)/2] ^= 4
	dir := t.TempDir()
	leave(t, dir, "r", b)
	h := home(t, dir, journal.Sync)
	for name, open := range map[string]func(string) (*journal.File, error){"open": h.Open, "create": h.Create} {
		if _, err := open("r"); !errors.Is(err, journal.ErrCorrupt) || !strings.Contains(err.Error(), "r.jsonl: line ") {
			t.Errorf("%s: %v", name, err)
		}
	}
	recs, err := h.Read("r")
	if !errors.Is(err, journal.ErrCorrupt) || len(recs) == 0 {
		t.Fatal(err)
	}
	same(t, recs, want[:len(recs)])
}

func FuzzDecode(f *testing.F) {
	b, _ := sample(f)
	f.Add(b)
	f.Add(b[:len(b)-9])
	f.Add([]byte(`{"v":1,"seq":1`))
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := journal.Decode(b)
		if c.Good > len(b) || err == nil && bytes.IndexByte(b[c.Good:], '\n') >= 0 {
			t.Fatal("lines were left out without an error")
		}
		// A well-sealed line of any bytes must be safe to read.
		sealed, _ := journal.Seal(bytes.ReplaceAll(b, []byte("\n"), nil), journal.Chain{})
		if c, err = journal.Decode(sealed); err == nil && len(c.Records) != 1 {
			t.Fatalf("%d records in one line", len(c.Records))
		}
	})
}
