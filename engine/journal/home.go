package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

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

// Names in the folder of the runs.
const (
	suffix      = ".jsonl"                 // of a journal
	lockSuffix  = ".lock"                  // of a lock beside a journal, on systems without flock
	savedPrefix = "journal.jsonl.damaged-" // of the journals that repairs saved, in the run's folder
	LogFile     = "log"                    // output of a detached run, in its folder
)

// maxSyncs bounds concurrent syncs, and so the threads they block.
const maxSyncs = 64

// Home is a folder of runs. The journal of a run is runs/<id>.jsonl, which its session
// locks. The folder runs/<id> has its other files, if there are any. The heads of all runs
// are in one index. A Home is safe for concurrent use by goroutines and processes.
type Home struct {
	runs       string
	index      index
	durability Durability
	syncSlots  chan struct{}
	names      nameSyncer
	background background
	shared     *sharedLog      // nil = each session syncs its file
	wrap       func(disk) disk // for tests with failing disks
	committed  func(time.Duration)
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
	h.index.path = filepath.Join(h.runs, indexName)
	h.background.home = h
	if err := h.recoverLogs(); err != nil {
		return nil, fmt.Errorf("open home: %w", err)
	}
	return h, nil
}

// OnCommit has committed called with the time that each group of records with durability Sync took
// to become durable. It must be called before the home is used, and before ShareSyncs. committed
// must be safe for concurrent use, and must not block.
func (h *Home) OnCommit(committed func(time.Duration)) { h.committed = committed }

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

// Close waits for the background syncs, and closes the commit log. It does not close open
// runs.
func (h *Home) Close() error {
	err := errors.Join(h.background.wait(), h.shared.close())
	h.index.close()
	return err
}

// Folder returns the folder for files of a run other than its journal. It need not exist.
func (h *Home) Folder(run string) string { return filepath.Join(h.runs, run) }

// File returns the path of a run's journal, which need not exist.
func (h *Home) File(run string) string {
	if path := h.path(run); exists(path) || !h.isOld(run) {
		return path
	}
	return filepath.Join(h.Folder(run), oldJournal)
}

func (h *Home) path(run string) string { return filepath.Join(h.runs, run+suffix) }

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// Create opens and locks a new run. It returns an *ExistsError if the run already has a
// record; leftovers of an attempt that wrote none are reused. The caller must close the
// File.
func (h *Home) Create(run string) (*File, error) {
	if err := checkID(run); err != nil {
		return nil, err
	}
	f, err := h.open(run, true, func(recs int) error {
		if recs > 0 {
			return &ExistsError{run}
		}
		return nil
	})
	failpoint.At(failpoint.RunCreated)
	return f, err
}

// Open opens and locks an existing run. The error wraps fs.ErrNotExist if there is none,
// ErrCorrupt if it is damaged, and is an *InUseError if it is already open. The caller must
// close the File.
func (h *Home) Open(run string) (*File, error) {
	if err := checkID(run); err != nil {
		return nil, err
	}
	return h.open(run, false, func(recs int) error {
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
	if e.journalErr == nil && len(e.contents.Records) == 0 {
		return nil, missing(run, fs.ErrNotExist)
	}
	return e.contents.Records, e.journalErr
}

// List returns the sorted ids of the existing runs. A run exists from its first complete
// record on, as long as its journal or its head shows that there was one.
func (h *Home) List() ([]string, error) {
	ids, _, err := h.ListStamped()
	return ids, err
}

// ListStamped is List with the Stamp of the list. It is the zero Stamp if there are journals
// without a record, since these can become runs without another change.
func (h *Home) ListStamped() ([]string, Stamp, error) {
	stamp := h.Stamp()
	entries, err := os.ReadDir(h.runs)
	if err != nil {
		return nil, Stamp{}, fmt.Errorf("list runs: %w", err)
	}
	heads := h.index.marks() // runs with a head, whose files need not be opened
	var ids []string
	for _, e := range entries {
		id, isJournal := strings.CutSuffix(e.Name(), suffix)
		switch {
		case isJournal && !e.IsDir() && checkID(id) == nil:
			if _, hasHead := heads[id]; hasHead || hasRecord(h.path(id)) {
				ids = append(ids, id)
			} else {
				stamp = Stamp{}
			}
			delete(heads, id)
		case e.IsDir() && checkID(e.Name()) == nil && !exists(h.path(e.Name())) && h.existsInFolder(e.Name()):
			ids = append(ids, e.Name())
		}
	}
	for id := range heads {
		if w := h.witness(id); w.hadRecord() { // the journal is gone
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids), stamp, nil
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
		return &IDError{run}
	}
	return nil
}
