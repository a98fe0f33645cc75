package journal

import (
	"slices"
	"sync"

	"github.com/pexctl/pex/engine/regular"
)

// Append encodes one tick on the caller's goroutine and writes it at once, unless it must
// be synced or follows one that must.
func (f *File) Append(recs []Record) (*Ticket, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err != nil {
		return nil, f.err
	}
	durable := f.home.durability == Sync && slices.ContainsFunc(recs, func(r Record) bool { return r.syncs() })
	if !durable && f.log == nil && f.idle() {
		l := newLines()
		defer l.release()
		if err := f.encode(l, recs); err != nil {
			return nil, err
		}
		return nil, f.write(l.b)
	}
	if f.log != nil {
		return f.appendLogged(recs, durable)
	}
	g := f.pendingGroup()
	if err := f.encode(g.lines, recs); err != nil {
		return nil, err
	}
	g.extent = extent{seq: f.seq, chain: f.tail}
	return f.commitSoon(durable), nil
}

// encode appends all of the records to l, or none.
func (f *File) encode(l *lineBuffer, recs []Record) error {
	b, tail, err := l.b, f.tail, error(nil)
	for i := range recs {
		if b, tail, err = AppendLine(b, &recs[i], tail); err != nil {
			return err
		}
	}
	l.b = b
	f.tail, f.recordsFresh, f.records = tail, false, nil
	f.seq += uint64(len(recs))
	f.wrote = true
	return nil
}

// write writes lines at once and leaves their sync to the durability.
func (f *File) write(lines []byte) error {
	if err := f.writeNow(lines); err != nil {
		return err
	}
	switch f.home.durability {
	case Sync:
		f.scheduleSync()
	case Async:
		f.home.background.add(lateSync{path: f.path, isNew: f.isNew, f: f})
		f.isNew = false
	case Exit:
	}
	return nil
}

// syncOnExit does the sync of durability Exit. It does not repeat an error that Append
// returned.
func (f *File) syncOnExit() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.home.durability != Exit || f.err != nil || f.good == 0 {
		return nil
	}
	if err := f.home.limitSync(func() error { return f.sync(f.isNew) }); err != nil {
		return appendError(f.run, err)
	}
	return nil
}

// limitSync runs a sync when a sync slot is free.
func (h *Home) limitSync(sync func() error) error {
	h.syncSlots <- struct{}{}
	defer func() { <-h.syncSlots }()
	return sync()
}

// nameSyncer makes the directory entries of new runs durable.
type nameSyncer struct {
	dir              string
	mu               sync.Mutex // guards created
	syncMu           sync.Mutex // guards covered; held during a sync
	created, covered int64      // runs created; how many of them the last sync covers
}

// save returns after a sync that started after the call. Concurrent calls share one sync.
func (n *nameSyncer) save() error {
	n.mu.Lock()
	n.created++
	mine := n.created
	n.mu.Unlock()
	n.syncMu.Lock()
	defer n.syncMu.Unlock()
	if n.covered >= mine {
		return nil
	}
	n.mu.Lock()
	covers := n.created
	n.mu.Unlock()
	if err := regular.SyncDir(n.dir); err != nil {
		return err
	}
	n.covered = covers
	return nil
}
