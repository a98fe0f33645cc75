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

// Durability says when records survive the machine. A killed process loses
// nothing that was appended under any of them.
type Durability string

// The durabilities.
const (
	Sync  Durability = "sync"  // each commit is synced before its ticket is fulfilled; "" means this too
	Async Durability = "async" // synced in the background, nobody waits but Home.Close
	Exit  Durability = "exit"  // synced once, when the run's file is closed
)

// What a run's folder holds, beside its head.
const (
	fileName = "journal.jsonl"
	lockName = "lock"
)

// Files that commands leave in a run's folder, beside those of the journal.
const (
	LogFile = "log" // what a run without a terminal had to say
)

// maxSyncs bounds the syncs under way at once, and so the threads they block.
const maxSyncs = 64

// Home is a folder of runs: runs/<id>/journal.jsonl. Many goroutines and many
// processes may use one home at once.
type Home struct {
	runs       string
	durability Durability
	lanes      chan struct{}
	names      names
	behind     background
	wrap       func(disk) disk // tests put failing disks here
}

// OpenHome opens the home in dir, making it if need be.
func OpenHome(dir string, d Durability) (*Home, error) {
	switch d {
	case "":
		d = Sync
	case Sync, Async, Exit:
	default:
		return nil, fmt.Errorf("durability %q is unknown: use sync, async or exit", d)
	}
	h := &Home{runs: filepath.Join(dir, "runs"), durability: d, lanes: make(chan struct{}, maxSyncs)}
	if err := makeRuns(dir, h.runs); err != nil {
		return nil, fmt.Errorf("open home: %w", err)
	}
	h.names.dir = h.runs
	h.behind.home = h
	return h, nil
}

// makeRuns makes the folder of the runs and what is missing above it, and makes
// the names durable: also the home's own, which the caller may just have made.
func makeRuns(home, runs string) error {
	_, err := os.Stat(runs)
	if err == nil {
		return regular.SyncDir(home) // whoever made it may have been killed before this
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

// Close waits for the syncs of Async, and for those of the heads that closed
// runs left under Sync. Runs still open are not closed.
func (h *Home) Close() error { return h.behind.wait() }

// Folder is where a run's files lie; it need not exist.
func (h *Home) Folder(run string) string { return filepath.Join(h.runs, run) }

// Create opens and locks a new run. A *ExistsError says that the run has a
// whole record already; what an earlier attempt left before its first record
// is taken over. The caller closes the File.
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

// Open opens and locks a run that exists; the error wraps fs.ErrNotExist when
// it does not, ErrCorrupt when it is damaged, and is a *HeldError when someone
// has it open. The caller closes the File.
func (h *Home) Open(run string) (*File, error) {
	if err := checkID(run); err != nil {
		return nil, err
	}
	path := filepath.Join(h.Folder(run), fileName)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		head, _, _ := readHead(h.Folder(run), run)
		return nil, absent(run, path, furthest(head.extent(), readExtent(h.Folder(run), run)))
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

// Read gives a run's records without locking it: the run may be under way.
// Beside an error that wraps ErrCorrupt are the records before the damage.
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

// List is the ids of the runs that exist, sorted. A run exists from its first
// whole record on, and as long as its journal or its head says that there was
// one, however damaged the journal is.
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
	if begun(filepath.Join(h.Folder(run), fileName)) {
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

// checkID holds ids to what every file system takes: ^[a-zA-Z0-9][a-zA-Z0-9_.-]{0,63}$.
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
