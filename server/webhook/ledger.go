package webhook

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/jsonvalue"
	"github.com/pexctl/pex/engine/regular"
	"github.com/pexctl/pex/server/feed"
)

// The files of a ledger.
const (
	ledgerName = "ledger.jsonl"
	lockName   = "lock"
)

// minCompaction is the number of lines below which a ledger is not compacted.
const minCompaction = 10_000

// ledger stores which runs have messages that a hook has not received yet, or may have in the
// future: an append-only file, compacted when most of it is out of date. It is safe for
// concurrent use.
type ledger struct {
	dir  string
	log  *slog.Logger
	lock *os.File

	mu     sync.Mutex
	file   *journal.Log
	broken bool              // file is closed after an error
	closed bool              // nothing more is stored
	live   map[string]*entry // by run
}

// entry is a run in the ledger.
type entry struct {
	agent string
	done  map[string]feed.Cursor // by hook: the last event that needs no further attempt
}

// line is a line of the file. Exactly one of Hooks, Cursor and End is set.
type line struct {
	Run    string            `json:"run"`
	Agent  string            `json:"agent,omitempty"`
	Hooks  map[string]string `json:"hooks,omitempty"` // the run is added, with a cursor for each hook
	Hook   string            `json:"hook,omitempty"`
	Cursor string            `json:"cursor,omitempty"` // new cursor of the hook
	End    bool              `json:"end,omitempty"`    // the hook, or every hook, needs nothing more of the run
}

// openLedger opens the ledger in a folder, which it creates. It fails if another process has
// the ledger open.
func openLedger(dir string, log *slog.Logger) (*ledger, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	lock, err := acquire(filepath.Join(dir, lockName))
	if err != nil {
		return nil, err
	}
	l := &ledger{dir: dir, log: log, lock: lock, live: map[string]*entry{}}
	path := filepath.Join(dir, ledgerName)
	l.file, err = journal.OpenLog(path, l.read)
	if errors.Is(err, journal.ErrCorrupt) {
		log.Error("the list of webhook deliveries is damaged; some events may not be delivered", "file", path, "error", err)
		err = l.rewrite()
	}
	if err != nil {
		_ = lock.Close()
		return nil, err
	}
	return l, nil
}

// read applies a line of the file.
func (l *ledger) read(in journal.Line) error {
	var x line
	if err := json.Unmarshal(in.JSON, &x); err != nil {
		return fmt.Errorf("line %d: %w: %w", in.N, journal.ErrCorrupt, err)
	}
	e := l.live[x.Run]
	switch {
	case len(x.Hooks) > 0:
		if e == nil {
			e = &entry{done: map[string]feed.Cursor{}}
			l.live[x.Run] = e
		}
		e.agent = x.Agent
		for hook, at := range x.Hooks {
			e.done[hook], _ = feed.ParseCursor(at) // from the start, if it is invalid
		}
	case e == nil:
	case x.End && x.Hook == "":
		delete(l.live, x.Run)
	case x.End:
		e.remove(l, x.Run, x.Hook)
	case x.Cursor != "":
		if at, err := feed.ParseCursor(x.Cursor); err == nil {
			e.done[x.Hook] = at
		}
	}
	return nil
}

func (e *entry) remove(l *ledger, run, hook string) {
	if delete(e.done, hook); len(e.done) == 0 {
		delete(l.live, run)
	}
}

// runs returns a copy of the entries.
func (l *ledger) runs() map[string]entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := map[string]entry{}
	for run, e := range l.live {
		out[run] = entry{e.agent, maps.Clone(e.done)}
	}
	return out
}

// add adds hooks to a run. sync makes this durable.
func (l *ledger) add(run, agent string, at map[string]feed.Cursor) error {
	x := line{Run: run, Agent: agent, Hooks: map[string]string{}}
	for hook, c := range at {
		x.Hooks[hook] = c.String()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.reopen(); err != nil {
		return err
	}
	if err := l.append(x); err != nil {
		return err
	}
	e := l.live[run]
	if e == nil {
		e = &entry{agent, map[string]feed.Cursor{}}
		l.live[run] = e
	}
	maps.Copy(e.done, at)
	return nil
}

// sync returns once everything added is durable. Concurrent calls share the work.
func (l *ledger) sync() error {
	l.mu.Lock()
	file := l.file
	l.mu.Unlock()
	err := file.Sync()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file != file { // it was replaced meanwhile, and the new one was synced
		return nil
	}
	return err
}

// settle stores that a hook needs no event up to a cursor any more. An error only means that
// a restart repeats messages.
func (l *ledger) settle(run, hook string, at feed.Cursor) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.live[run]
	if e == nil || e.done[hook].Compare(at) >= 0 {
		return
	}
	e.done[hook] = at
	l.note(line{Run: run, Hook: hook, Cursor: at.String()})
}

// end stores that the hooks need nothing more of a run.
func (l *ledger) end(run string, hooks ...string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.live[run]
	if e == nil {
		return
	}
	for _, hook := range hooks {
		if _, ok := e.done[hook]; !ok {
			continue
		}
		x := line{Run: run, Hook: hook, End: true}
		if e.remove(l, run, hook); l.live[run] == nil {
			x.Hook = ""
		}
		l.note(x)
	}
}

// note appends a line whose loss is harmless. The caller holds mu.
func (l *ledger) note(x line) {
	err := l.reopen()
	if err == nil {
		err = l.append(x)
	}
	if err != nil {
		l.log.Debug("store a webhook delivery", "run_id", x.Run, "error", err)
	}
}

// append appends a line. The caller holds mu.
func (l *ledger) append(x line) error {
	_, err := l.file.Append(jsonvalue.Encode(x))
	return err
}

// reopen makes the file ready for a line: it replaces the file if most of it is out of date, or
// if nothing can be appended to it after an error. The caller holds mu.
func (l *ledger) reopen() error {
	if l.closed {
		return os.ErrClosed
	}
	if n := l.file.Lines(); !l.broken && l.file.Err() == nil && (n < minCompaction || n < 4*len(l.live)) {
		return nil
	}
	if !l.broken {
		_ = l.file.Close() // an error has been returned before
	}
	return l.rewrite()
}

// rewrite replaces the file by one with only the entries. The caller holds mu.
func (l *ledger) rewrite() error {
	path := filepath.Join(l.dir, ledgerName)
	temp := path + ".tmp"
	if err := os.Remove(temp); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	next, err := journal.OpenLog(temp, nil)
	if err != nil {
		return err
	}
	l.file, l.broken = next, true
	for _, run := range slices.Sorted(maps.Keys(l.live)) {
		e := l.live[run]
		x := line{Run: run, Agent: e.agent, Hooks: map[string]string{}}
		for hook, at := range e.done {
			x.Hooks[hook] = at.String()
		}
		if err = l.append(x); err != nil {
			break
		}
	}
	if err == nil {
		err = next.Sync()
	}
	if err == nil {
		err = os.Rename(temp, path)
	}
	if err == nil {
		err = regular.SyncDir(l.dir)
	}
	if l.broken = err != nil; l.broken {
		_ = next.Close()
	}
	return err
}

// close closes the file, and unlocks it.
func (l *ledger) close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	var err error
	if !l.broken {
		err = l.file.Close()
	}
	return errors.Join(err, l.lock.Close())
}
