package journal

import (
	"path/filepath"
	"sync"

	"github.com/pexctl/pex/engine/regular"
)

// Append encodes one tick on the caller's goroutine. Under Sync a commit is
// begun if none is under way; else the tick is written at once.
func (f *File) Append(recs []Record) (*Ticket, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err != nil {
		return nil, f.err
	}
	if f.home.durability != Sync {
		l := newLines()
		defer l.done()
		if err := f.encode(l, recs); err != nil {
			return nil, err
		}
		return nil, f.write(l.b)
	}
	g := f.waiting()
	if err := f.encode(g.lines, recs); err != nil {
		return nil, err
	}
	g.extent = extent{seq: f.seq, chain: f.tail}
	return f.begin(true), nil
}

// encode adds records to l, or none of them.
func (f *File) encode(l *lines, recs []Record) error {
	b, tail, err := l.b, f.tail, error(nil)
	for i := range recs {
		if b, tail, err = AppendLine(b, &recs[i], tail); err != nil {
			return err
		}
	}
	l.b = b
	f.tail, f.fresh, f.records = tail, false, nil
	f.seq += uint64(len(recs))
	f.wrote = true
	return nil
}

// write is the append of Async and Exit.
func (f *File) write(b []byte) error {
	if _, err := f.disk.Write(b); err != nil {
		_ = f.disk.Truncate(f.good)
		f.err = appendError(f.run, err)
		return f.err
	}
	f.good += int64(len(b))
	if f.home.durability == Async {
		f.home.behind.add(late{f.path, f.made, f})
		f.made = false
	}
	return nil
}

// leave is what is left to sync when a file is closed. A failure that Append
// told of is not told again.
func (f *File) leave() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.home.durability != Exit || f.err != nil || f.good == 0 {
		return nil
	}
	if err := f.home.inLane(func() error { return f.sync(f.made) }); err != nil {
		return appendError(f.run, err)
	}
	return nil
}

// inLane runs a sync when few enough are under way.
func (h *Home) inLane(sync func() error) error {
	h.lanes <- struct{}{}
	defer func() { <-h.lanes }()
	return sync()
}

// names makes the names of new runs durable.
type names struct {
	dir         string
	count       sync.Mutex // guards made
	sync        sync.Mutex // guards saved, held over a sync
	made, saved int64      // runs created; how many of them the last sync covers
}

// syncNames makes a new file's own name and its folder's durable.
func (h *Home) syncNames(path string) error {
	if err := regular.SyncDir(filepath.Dir(path)); err != nil {
		return err
	}
	return h.names.save()
}

// save returns after a sync that began after its call: runs that start
// together share one.
func (n *names) save() error {
	n.count.Lock()
	n.made++
	mine := n.made
	n.count.Unlock()
	n.sync.Lock()
	defer n.sync.Unlock()
	if n.saved >= mine {
		return nil
	}
	n.count.Lock()
	covers := n.made
	n.count.Unlock()
	if err := regular.SyncDir(n.dir); err != nil {
		return err
	}
	n.saved = covers
	return nil
}
