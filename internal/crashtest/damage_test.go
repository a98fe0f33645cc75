//go:build faults && linux

package crashtest_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
)

// Every file of a home, damaged in every way, for a run that ended and one that
// was suspended: what there was is intact, or the command that needs it says
// store_corrupt. Never a panic, a hang, a repeated write or a silent loss.
func TestDamageOfAnyFileIsNamedOrDoesNoHarm(t *testing.T) {
	want := undisturbed(newWorld(t))
	lives := map[string]func(*world){
		"ended": func(w *world) { w.check(w.untilDone(func(int) fate { return fate{} }), want) },
		"suspended": func(w *world) {
			s := w.begin(fate{})
			w.until(s, func() bool { return len(w.ledger()) > 5 })
			_ = s.Process.Signal(syscall.SIGTERM)
			if code := w.ended(s); code != terminated {
				w.fatal("suspended with %d", code)
			}
			w.exists = true
		},
	}
	var cells, corrupt atomic.Int64
	t.Run("lives", func(t *testing.T) {
		for name, life := range lives {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				w.remember()
				life(w)
				before := filepath.Join(t.TempDir(), "before")
				if err := os.CopyFS(before, os.DirFS(w.dir)); err != nil {
					t.Fatal(err)
				}
				for _, file := range filesOf(t, w.home) {
					for _, damage := range damages {
						cells.Add(1)
						w.restore(before)
						if w.damaged(file, damage, want) {
							corrupt.Add(1)
						}
					}
				}
			})
		}
	})
	t.Logf("%d cells, %d of them store_corrupt, the others intact", cells.Load(), corrupt.Load())
	if corrupt.Load() == 0 {
		t.Error("no damage was ever seen")
	}
}

// damages are what may happen to a file.
var damages = []string{"flip 0", "flip 1", "flip 13", "flip 50", "flip 87", "flip 100", "halve", "zero", "empty", "delete"}

// damaged damages a file of a home and uses the home; it says whether anything
// was found to be damaged.
func (w *world) damaged(file, damage string, want *result) (found bool) {
	path := filepath.Join(w.home, file)
	if err := harm(path, damage); err != nil {
		w.t.Errorf("%s %s: %v", damage, file, err)
		return false
	}
	fmt.Fprintf(&w.log, "%s: %s\n", damage, file)
	answers := []string(nil)
	for range 3 {
		s := w.resume(fate{}, answers...)
		code := w.finish(s, fate{})
		said := s.stdout.String() + s.stderr.String()
		switch {
		case code == done:
			if !same(w, w.result(s), want) {
				return found
			}
			return w.remembers() || found
		case code == waits:
			answers = w.decide(w.result(s))
			continue
		case code == infra && strings.Contains(said, "corrupt"):
			return true
		case code == usage && damage == "delete" && strings.HasSuffix(file, ".jsonl"):
			w.t.Errorf("%s of %s made the run unknown: %s", damage, file, said)
		default:
			w.t.Errorf("%s of %s: resume ended %d: %s", damage, file, code, said)
		}
		return found
	}
	w.t.Errorf("%s of %s: the run asks for ever", damage, file)
	return found
}

// same is check, for a test whose cells are many.
func same(w *world, got, want *result) bool {
	if got.Response != want.Response || stepsOf(w, got) != stepsOf(w, want) {
		w.t.Errorf("%s: the run came to another end: %+v", w.log.String(), got)
		return false
	}
	for key, times := range w.ledger() {
		if strings.HasPrefix(key, "write ") && times != 1 {
			w.t.Errorf("%s: %s was performed %d times", w.log.String(), key, times)
			return false
		}
	}
	return true
}

// remembers says whether the memory was found to be damaged; if not, it must
// hold the run's turn.
func (w *world) remembers() (found bool) {
	s := w.command(fate{}, "memory", "show", "m")
	s.Args = without(s.Args, "-q", "--events", s.events)
	code := w.finish(s, fate{})
	said := s.stdout.String() + s.stderr.String()
	switch {
	case code == infra && strings.Contains(said, "corrupt"), code == infra && strings.Contains(said, "damaged"):
		return true
	case code != done || !strings.Contains(said, "All ten were read and written."):
		w.t.Errorf("%s: memory show ended %d: %s", w.log.String(), code, said)
	}
	return false
}

func harm(path, damage string) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var at int
	switch {
	case damage == "delete":
		return os.Remove(path)
	case damage == "halve":
		return os.Truncate(path, int64(len(b)/2))
	case damage == "empty":
		return os.Truncate(path, 0)
	case damage == "zero":
		return os.WriteFile(path, make([]byte, len(b)), 0o600)
	case len(b) == 0:
		return nil
	}
	if _, err := fmt.Sscanf(damage, "flip %d", &at); err != nil {
		return err
	}
	b = bytes.Clone(b)
	b[at*(len(b)-1)/100] ^= 1 << (at % 8)
	return os.WriteFile(path, b, 0o600)
}

func filesOf(t *testing.T, dir string) []string {
	t.Helper()
	var out []string
	err := fs.WalkDir(os.DirFS(dir), ".", func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			out = append(out, path)
		}
		return err
	})
	if err != nil || len(out) < 3 {
		t.Fatal(err, out)
	}
	return out
}

// restore puts a world back to how it was.
func (w *world) restore(before string) {
	w.t.Helper()
	w.log.Reset()
	for _, name := range []string{"home", "ledger"} {
		if err := os.RemoveAll(filepath.Join(w.dir, name)); err != nil {
			w.t.Fatal(err)
		}
	}
	if err := os.CopyFS(w.home, os.DirFS(filepath.Join(before, "home"))); err != nil {
		w.t.Fatal(err)
	}
	w.write("ledger", w.read(filepath.Join(before, "ledger")))
}
