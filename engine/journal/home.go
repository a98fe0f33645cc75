package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/pexctl/pex/engine/failpoint"
	"github.com/pexctl/pex/engine/regular"
)

// Durability is when records survive a crash of the machine. Appended records survive a
// killed process with every durability.
type Durability string

// The durabilities.
const (
	Sync  Durability = "sync"  // records that must not be lost are synced before their ticket is fulfilled, others within 100 ms; the default
	Async Durability = "async" // synced in the background; only closing waits
	Exit  Durability = "exit"  // synced once, when the run's file is closed
)

// Files in a run's folder, beside its head.
const (
	fileName = "journal.jsonl"
	lockName = "lock"
)

// Files that commands write to a run's folder.
const (
	LogFile = "log" // output of a detached run
)

// maxSyncs bounds concurrent syncs, and so the threads they block.
const maxSyncs = 64

// Home is a folder of runs: runs/<id>/journal.jsonl. It is safe for concurrent use by
// goroutines and processes.
type Home struct {
	runs       string
	durability Durability
	syncSlots  chan struct{}
	names      nameSyncer
	background background
	wrap       func(disk) disk // for tests with failing disks
}

// OpenHome opens the home in dir and creates it if needed.
func OpenHome(dir string, d Durability) (*Home, error) {
	switch d {
	case "":
		d = Sync
	case Sync, Async, Exit:
	default:
		return nil, fmt.Errorf("durability %q is unknown: use sync, async or exit", d)
	}
	h := &Home{runs: filepath.Join(dir, "runs"), durability: d, syncSlots: make(chan struct{}, maxSyncs)}
	if err := makeRuns(dir, h.runs); err != nil {
		return nil, fmt.Errorf("open home: %w", err)
	}
	h.names.dir = h.runs
	h.background.home = h
	return h, nil
}

// makeRuns creates the folder of the runs and its parents, and makes their directory
// entries durable, including that of the home, which the caller may just have created.
func makeRuns(home, runs string) error {
	_, err := os.Stat(runs)
	if err == nil {
		return regular.SyncDir(home) // its creator may have been killed before this
	}
	created := []string{home, filepath.Dir(home)}
	for dir := filepath.Dir(home); dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if _, err := os.Stat(dir); err == nil {
			break
		}
		created = append(created, filepath.Dir(dir))
	}
	if err := os.MkdirAll(runs, 0o700); err != nil {
		return err
	}
	for _, dir := range created {
		if err := regular.SyncDir(dir); err != nil && !errors.Is(err, fs.ErrPermission) {
			return err
		}
	}
	return nil
}

// Close waits for the background syncs. It does not close open runs.
func (h *Home) Close() error { return h.background.wait() }

// Folder returns the folder of a run, which need not exist.
func (h *Home) Folder(run string) string { return filepath.Join(h.runs, run) }

// Create opens and locks a new run. It returns an *ExistsError if the run already has a
// record; leftovers of an attempt that wrote none are reused. The caller must close the
// File.
func (h *Home) Create(run string) (*File, error) {
	if err := checkID(run); err != nil {
		return nil, err
	}
	if err := os.Mkdir(h.Folder(run), 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, appendError(run, err)
	}
	f, err := h.open(run, func(recs int) error {
		if recs > 0 {
			return &ExistsError{run}
		}
		return nil
	})
	failpoint.At(failpoint.RunCreated)
	return f, err
}

// Open opens and locks an existing run. The error wraps fs.ErrNotExist if there is none,
// ErrCorrupt if it is damaged, and is a *HeldError if it is already open. The caller must
// close the File.
func (h *Home) Open(run string) (*File, error) {
	if err := checkID(run); err != nil {
		return nil, err
	}
	path := filepath.Join(h.Folder(run), fileName)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		head, _, _ := readHead(h.Folder(run), run)
		return nil, missingJournal(run, path, maxExtent(head.extent(), readExtent(h.Folder(run), run)))
	} else if err != nil {
		return nil, err
	}
	return h.open(run, func(recs int) error {
		if recs == 0 {
			return missing(run, fs.ErrNotExist)
		}
		return nil
	})
}

// Read returns a run's records without locking it, so the run may be in progress. With an
// error that wraps ErrCorrupt it returns the records before the damage.
func (h *Home) Read(run string) ([]Record, error) {
	if err := checkID(run); err != nil {
		return nil, err
	}
	e := h.examine(run)
	if e.err == nil && len(e.contents.Records) == 0 {
		return nil, missing(run, fs.ErrNotExist)
	}
	return e.contents.Records, e.err
}

// List returns the sorted ids of the existing runs. A run exists from its first complete
// record on, as long as its journal, head or lock file shows that there was one.
func (h *Home) List() ([]string, error) {
	entries, err := os.ReadDir(h.runs)
	if err != nil {
		return nil, fmt.Errorf("list runs: %w", err)
	}
	var ids []string
	for _, e := range entries {
		if e.IsDir() && checkID(e.Name()) == nil && h.exists(e.Name()) {
			ids = append(ids, e.Name())
		}
	}
	slices.Sort(ids)
	return ids, nil
}

func (h *Home) exists(run string) bool {
	if hasRecord(filepath.Join(h.Folder(run), fileName)) {
		return true
	}
	head, _, err := readHead(h.Folder(run), run)
	return head != nil || errors.Is(err, ErrNewer) || readExtent(h.Folder(run), run).seq > 0
}

func missing(run string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("run %s: %w", run, fs.ErrNotExist)
	}
	return err
}

// checkID requires ^[a-zA-Z0-9][a-zA-Z0-9_.-]{0,63}$, which every file system accepts.
func checkID(run string) error {
	ok := len(run) > 0 && len(run) <= 64
	for i := range len(run) {
		switch c := run[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		case (c == '_' || c == '.' || c == '-') && i > 0:
		default:
			ok = false
		}
	}
	if !ok {
		return fmt.Errorf("run id %q: use 1 to 64 letters, digits, '_', '.' and '-', beginning with a letter or digit", run)
	}
	return nil
}
