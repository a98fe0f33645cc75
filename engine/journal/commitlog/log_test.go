package commitlog_test

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/pexctl/pex/engine/journal/commitlog"
)

// world is files and their log.
type world struct {
	t   *testing.T
	dir string
	log *commitlog.Log

	mu          sync.Mutex
	files       map[string]string // what was added
	checkpoints int
	failing     error // of the next checkpoints
}

func newWorld(t *testing.T, o commitlog.Options) *world {
	t.Helper()
	w := &world{t: t, dir: filepath.Join(t.TempDir(), "log"), files: map[string]string{}}
	o.Checkpoint = func([]string) error {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.checkpoints++
		return w.failing
	}
	log, err := commitlog.Open(w.dir, o)
	if err != nil {
		t.Fatal(err)
	}
	w.log = log
	return w
}

// checkpointed returns how many checkpoints there were.
func (w *world) checkpointed() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.checkpoints
}

// add appends to a file and returns the group.
func (w *world) add(name, text string) *commitlog.Group {
	w.t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	g, err := w.log.Add(&commitlog.Frame{Name: name, Tag: 7, At: int64(len(w.files[name])), Bytes: []byte(text)}, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	w.files[name] += text
	return g
}

// recovered returns the files after a power loss that left only the log in dir.
func recovered(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := commitlog.Recover(dir, func(frames []commitlog.Frame) error {
		for _, f := range frames {
			was := files[f.Name]
			if int(f.At) > len(was) {
				return fmt.Errorf("%s has a gap at byte %d", f.Name, len(was))
			}
			end := int(f.At) + len(f.Bytes)
			files[f.Name] = was[:f.At] + string(f.Bytes) + was[min(end, len(was)):]
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// copied returns a copy of the log, whose owner is alive: that of a machine that lost power.
func (w *world) copied() string {
	w.t.Helper()
	dir := w.t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(w.dir)); err != nil {
		w.t.Fatal(err)
	}
	return dir
}

func TestADurableFrameSurvives(t *testing.T) {
	w := newWorld(t, commitlog.Options{})
	w.add("a", "one ")
	w.add("b", "1 ")
	if err := w.add("a", "two ").Wait(); err != nil {
		t.Fatal(err)
	}
	dir := w.copied()
	if got := fmt.Sprint(recovered(t, dir)); got != "map[a:one two  b:1 ]" {
		t.Error(got)
	}
	if entries, _ := os.ReadDir(dir); len(entries) > 0 {
		t.Errorf("the log is still there: %v", entries)
	}
}

func TestAClosedLogIsRemoved(t *testing.T) {
	w := newWorld(t, commitlog.Options{})
	g := w.add("a", "one")
	if err := w.log.Close(); err != nil || g.Wait() != nil || w.checkpointed() != 1 {
		t.Errorf("%v, %v, %d checkpoints", err, g.Wait(), w.checkpointed())
	}
	if entries, _ := os.ReadDir(w.dir); len(entries) > 0 {
		t.Error(entries)
	}
	if _, err := w.log.Add(&commitlog.Frame{Name: "a"}, nil); !errors.Is(err, os.ErrClosed) {
		t.Error(err)
	}
}

func TestTheLogOfALivingOwnerIsLeftAlone(t *testing.T) {
	w := newWorld(t, commitlog.Options{})
	if err := w.add("a", "one").Wait(); err != nil {
		t.Fatal(err)
	}
	if got := recovered(t, w.dir); len(got) > 0 {
		t.Errorf("applied: %v", got)
	}
	if err := w.add("a", "two").Wait(); err != nil {
		t.Fatal(err)
	}
	if err := w.log.Close(); err != nil {
		t.Error(err)
	}
}

// A log that turns to its other segment again and again has, at any time, all frames that
// are not in a checkpoint.
func TestSegmentsTakeTurns(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	w := newWorld(t, commitlog.Options{Limit: 8 << 10})
	for i := range 400 {
		g := w.add(string(rune('a'+rng.IntN(5))), strings.Repeat(string(rune('a'+i%26)), rng.IntN(400)))
		if rng.IntN(3) > 0 {
			continue
		}
		if err := g.Wait(); err != nil {
			t.Fatal(err)
		}
		if rng.IntN(20) > 0 {
			continue
		}
		// What is only in the checkpoint is in the files.
		dir, files := w.copied(), map[string]string{}
		err := commitlog.Recover(dir, func(frames []commitlog.Frame) error {
			for _, f := range frames {
				if got := w.files[f.Name][f.At:][:len(f.Bytes)]; got != string(f.Bytes) {
					t.Fatalf("frame %d of %s is %q, want %q", f.At, f.Name, f.Bytes, got)
				}
				files[f.Name] = w.files[f.Name][:int(f.At)+len(f.Bytes)]
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		for name, got := range files {
			if got != w.files[name] {
				t.Errorf("%s ends at byte %d of %d", name, len(got), len(w.files[name]))
			}
		}
	}
	if err := w.log.Close(); err != nil {
		t.Fatal(err)
	}
	if w.checkpointed() < 10 {
		t.Errorf("%d checkpoints", w.checkpointed())
	}
}

// Many goroutines wait for their frames: none waits forever, and all are in the log.
func TestConcurrentGroups(t *testing.T) {
	w := newWorld(t, commitlog.Options{Limit: 64 << 10})
	var wg sync.WaitGroup
	for i := range 32 {
		wg.Go(func() {
			for n := range 50 {
				g := w.add(fmt.Sprint("f", i), "some text\n")
				switch n % 3 {
				case 0:
					if err := g.Wait(); err != nil {
						t.Error(err)
					}
				case 1:
					g.Start()
					<-g.Done()
				}
			}
		})
	}
	wg.Wait()
	if err := w.log.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestAFrameNobodyWaitsForBecomesDurable(t *testing.T) {
	w := newWorld(t, commitlog.Options{})
	<-w.add("a", "one").Done()
	if got := recovered(t, w.copied()); got["a"] != "one" {
		t.Error(got)
	}
}

func TestAReadOnlyLogIsAnError(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root may write everything")
	}
	w := newWorld(t, commitlog.Options{})
	if err := w.add("a", "x").Wait(); err != nil {
		t.Fatal(err)
	}
	dir := w.copied()
	if err := os.Chmod(filepath.Join(dir, "1.a"), 0o400); err != nil {
		t.Fatal(err)
	}
	if err := commitlog.Recover(dir, func([]commitlog.Frame) error { return nil }); !errors.Is(err, commitlog.ErrReadOnly) {
		t.Error(err)
	}
}

func TestTwoOwners(t *testing.T) {
	w := newWorld(t, commitlog.Options{})
	other, err := commitlog.Open(w.dir, commitlog.Options{Checkpoint: func([]string) error { return nil }})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.add("a", "one").Wait(); err != nil {
		t.Fatal(err)
	}
	g, err := other.Add(&commitlog.Frame{Name: "a", At: 3, Bytes: []byte("two")}, nil)
	if err != nil || g.Wait() != nil {
		t.Fatal(err)
	}
	if err := w.log.Close(); err != nil {
		t.Fatal(err)
	}
	if !commitlog.Live(w.dir) {
		t.Error("the other log is gone")
	}
	if err := other.Close(); err != nil || commitlog.Live(w.dir) {
		t.Error(err)
	}
}

func TestNothingToRecover(t *testing.T) {
	if err := commitlog.Recover(filepath.Join(t.TempDir(), "none"), nil); err != nil || errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}
