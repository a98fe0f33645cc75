//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package journal_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/pexctl/pex/engine/journal"
)

func TestARequestThatIsNoJSONIsAnError(t *testing.T) {
	bad := json.RawMessage(`{"a":`)
	for name, q := range map[string]journal.Request{
		"head":  {Messages: []journal.Message{{Head: bad}}},
		"field": {Fields: []journal.Field{{Name: "tools", JSON: bad}}},
	} {
		var s journal.Segments
		if b, err := s.Encode(q); err == nil {
			t.Errorf("%s: it was encoded as %s", name, b)
		}
	}
}

// A run of a pool begins with its start.
func TestAPooledRunWithoutAStartIsDamage(t *testing.T) {
	for name, first := range map[string]journal.Record{
		"another kind": {Seq: 1, Kind: journal.Marker, Path: "a"},
		"another run":  {Seq: 1, Kind: journal.Start, Path: "b"},
	} {
		path := filepath.Join(t.TempDir(), "pool.jsonl")
		p := openPool(t, path, journal.PoolOptions{})
		put(t, pooledRun(t, p, "a"), first)
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
		_, err := journal.OpenPool(path, journal.PoolOptions{})
		if !errors.Is(err, journal.ErrCorrupt) || !strings.Contains(err.Error(), "no start") {
			t.Errorf("%s: %v", name, err)
		}
		if err := journal.CheckPool(path); !errors.Is(err, journal.ErrCorrupt) {
			t.Errorf("%s: checked: %v", name, err)
		}
	}
}

// A lock that the machine refuses is no lock that somebody has.
func TestARefusedLockIsNotHeldByAnother(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "lock"))
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	err = journal.LockFile(f, "r", func(*os.File) int { return 0 })
	if err == nil || isHeld(err) {
		t.Error(err)
	}
}

// No file of a run that is not a regular one makes a process wait.
func TestAFIFOInARunIsAnError(t *testing.T) {
	recs := records(t)
	for _, name := range []string{"r.jsonl", "_index"} {
		h := home(t, t.TempDir(), journal.Sync)
		f := created(t, h)
		appended(t, f, recs...)
		ended(t, f)
		path := filepath.Join(filepath.Dir(h.File("r")), name)
		if err := errors.Join(os.Remove(path), syscall.Mkfifo(path, 0o600)); err != nil {
			t.Fatal(err)
		}
		found, err := h.Check("r")
		if err != nil || len(found) == 0 {
			t.Errorf("%s: %+v, %v", name, found, err)
		}
		if _, err := h.List(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := h.Stat("r"); err != nil && name != "r.jsonl" {
			t.Errorf("%s: %v", name, err)
		}
		if f, err := h.Open("r"); name == "r.jsonl" && err == nil {
			t.Errorf("%s: it was opened", name)
			ended(t, f)
		} else if err == nil {
			ended(t, f)
		}
	}
}
