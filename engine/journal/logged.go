package journal

import (
	"maps"
	"path/filepath"
	"slices"
	"sync"

	"github.com/pexctl/pex/engine/journal/commitlog"
	"github.com/pexctl/pex/engine/regular"
)

// logName is the folder with the commit logs of a home. It is not a valid run id.
const logName = "_log"

// sharedLog is the commit log of a home whose sessions share syncs. It is opened by the
// first session.
type sharedLog struct {
	home   *Home
	limit  int64
	wrap   func(commitlog.Disk) commitlog.Disk // for tests with failing disks
	mu     sync.Mutex                          // guards the fields below
	log    *commitlog.Log
	closed bool
	open   map[*File]struct{} // the sessions that use it
}

// ShareSyncs has the sessions of the home, with durability Sync, commit to one log instead
// of syncing a file each: for processes that execute many runs at once. The log takes up to
// twice limit bytes, 0 = 32 MB, before the files are synced. Close must be called at the
// end; otherwise the next OpenHome applies the log.
func (h *Home) ShareSyncs(limit int64) {
	if h.durability == Sync {
		h.shared = &sharedLog{home: h, limit: limit, open: map[*File]struct{}{}}
	}
}

// join returns the log for a session, nil if it must sync its file itself: there is no
// room for the log, or the system does not support it.
func (s *sharedLog) join(f *File) *commitlog.Log {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	failed := s.log
	if failed == nil || failed.Err() == nil {
		failed = nil
	} else {
		s.log = nil
	}
	s.mu.Unlock()
	if failed != nil { // a checkpoint may wait for mu
		_ = failed.Close() // the next OpenHome applies it
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.log == nil && !s.closed {
		if s.home.index.hold() != nil {
			return nil
		}
		log, err := commitlog.Open(filepath.Join(s.home.runs, logName), commitlog.Options{Checkpoint: s.checkpoint, Limit: s.limit, Committed: s.home.committed, Wrap: s.wrap})
		if err != nil {
			return nil
		}
		s.log = log
	}
	if s.log != nil {
		s.open[f] = struct{}{}
	}
	return s.log
}

func (s *sharedLog) leave(f *File) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, f)
}

// close makes everything durable and removes the log.
func (s *sharedLog) close() error {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	log := s.log
	s.log, s.closed = nil, true
	s.mu.Unlock()
	if log == nil {
		return nil
	}
	return log.Close()
}

// rest closes the log until the next session if no session uses it.
func (s *sharedLog) rest() {
	if s == nil {
		return
	}
	s.mu.Lock()
	log := s.log
	if len(s.open) > 0 || log == nil {
		s.mu.Unlock()
		return
	}
	s.log = nil
	s.mu.Unlock()
	_ = log.Close() // if it fails, the next OpenHome applies it
}

// checkpoint makes the journals of these runs durable. Then the index gets the extents of
// those that are open.
func (s *sharedLog) checkpoint(runs []string) error {
	s.mu.Lock()
	open := slices.Collect(maps.Keys(s.open))
	s.mu.Unlock()
	extents := make([]extent, len(open))
	for i, f := range open {
		extents[i] = f.currentExtent()
	}
	paths := make([]string, len(runs))
	for i, run := range runs {
		paths[i] = s.home.path(run)
	}
	if err := regular.SyncAll(s.home.runs, paths); err != nil {
		return err
	}
	for i, f := range open {
		f.mu.Lock()
		if extents[i].seq > 0 {
			f.mark(extents[i])
		}
		f.mu.Unlock()
	}
	return nil
}

// logged is what a session has in the commit log of its home. File.mu guards it.
type logged struct {
	log          *commitlog.Log   // nil = the session syncs its file itself
	tag          uint64           // size of the index at the start of the session
	newer, older logEnd           // the latest groups with frames of the journal
	awaited      *commitlog.Group // the latest with a record that must be durable
	durable      int64            // how long the journal was before these
}

// logEnd is the length of the journal at the end of a group.
type logEnd struct {
	group *commitlog.Group
	good  int64
}

// joinLog has the session commit to the log of its home, if that has one.
func (f *File) joinLog() (err error) {
	if f.logged = (logged{log: f.home.shared.join(f)}); f.log != nil {
		f.tag, err = f.home.index.length()
	}
	return err
}

// appendLogged writes records to the file and adds them to the log. The caller holds mu.
func (f *File) appendLogged(recs []Record, durable bool) (*Ticket, error) {
	if f.newer.group == nil {
		f.durable = f.good
	}
	l := newLines()
	defer l.release()
	if err := f.encode(l, recs); err != nil {
		return nil, err
	}
	if err := f.writeNow(l.b); err != nil {
		return nil, err
	}
	group, err := f.log.Add(&commitlog.Frame{Name: f.run, Tag: f.tag, At: f.good - int64(len(l.b)), Bytes: l.b}, f.newer.group)
	if err != nil {
		return nil, f.failLogged(err)
	}
	f.extend(logEnd{group, f.good})
	if durable {
		f.awaited = group
	} else if f.awaited == nil || isDone(f.awaited) {
		return nil, nil
	}
	return &Ticket{group: f.awaited, file: f}, nil // also of records that follow one that must be durable
}

// extend notes that the journal has this end in a group. Of the groups before, only the
// last one may still be flushed.
func (l *logged) extend(end logEnd) {
	if l.newer.group != end.group {
		if l.older.group != nil {
			l.durable = l.older.good
		}
		l.older = l.newer
	}
	l.newer = end
}

func isDone(g *commitlog.Group) bool {
	select {
	case <-g.Done():
		return true
	default:
		return false
	}
}

// failLogged ends the journal and truncates it to what was not part of a group that has
// failed. The caller holds mu.
func (f *File) failLogged(err error) error {
	if f.err != nil {
		return f.err
	}
	good := f.durable
	switch {
	case f.newer.group != nil && !hasFailed(f.newer.group):
		good = f.newer.good
	case f.older.group != nil && !hasFailed(f.older.group):
		good = f.older.good
	}
	_ = f.disk.Truncate(good)
	_ = f.disk.Sync() // so that nothing is left after what a later session appends
	f.good, f.err = good, f.wrapError(err)
	return f.err
}

func hasFailed(g *commitlog.Group) bool { return isDone(g) && g.Err() != nil }

// waitLog waits until a group is durable.
func (f *File) waitLog(group *commitlog.Group) error {
	if err := group.Wait(); err != nil {
		f.mu.Lock()
		defer f.mu.Unlock()
		return f.failLogged(err)
	}
	return nil
}

// settle waits until the journal is durable as far as it must be.
func (f *File) settle() {
	f.mu.Lock()
	group := f.newer.group
	f.mu.Unlock()
	if group != nil {
		_ = f.waitLog(group)
	} else if f.log == nil {
		f.appender.settle()
	}
}
