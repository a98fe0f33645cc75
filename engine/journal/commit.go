package journal

import (
	"errors"
	"os"
	"path/filepath"
	"sync"

	"github.com/pexctl/pex/engine/failpoint"
)

// group is the appends that share one write and one sync.
type group struct {
	ticket Ticket
	lines  *lines
}

// lines is a buffer of encoded records, to be used again.
type lines struct{ b []byte }

var spareLines = sync.Pool{New: func() any { return &lines{make([]byte, 0, 4<<10)} }}

func newLines() *lines {
	l, _ := spareLines.Get().(*lines)
	return l
}

// done gives the buffer back; one that grew large is not kept.
func (l *lines) done() {
	if cap(l.b) <= maxKept {
		l.b = l.b[:0]
		spareLines.Put(l)
	}
}

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
	if f.next == nil {
		f.next = &group{ticket: Ticket{done: make(chan struct{})}, lines: newLines()}
	}
	if err := f.encode(f.next.lines, recs); err != nil {
		return nil, err
	}
	f.last = &f.next.ticket
	if !f.busy {
		f.busy = true
		go f.commits()
	}
	return f.last, nil
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

// commits writes group after group until none is waiting. A group is taken when
// there is room for its sync: what is appended until then goes with it.
func (f *File) commits() {
	for more := true; more; {
		f.home.lanes <- struct{}{}
		g := f.commitNext()
		<-f.home.lanes
		more = f.committed(g)
		close(g.ticket.done)
	}
}

// commitNext makes the group that waits durable.
func (f *File) commitNext() *group {
	f.mu.Lock()
	g, err := f.next, f.err
	f.next = nil
	made, good := f.made, f.good
	f.mu.Unlock()
	if err == nil {
		err = f.commit(g.lines.b, made, good)
	}
	g.ticket.err = err
	return g
}

// committed takes over what came of a group, and says whether another waits.
func (f *File) committed(g *group) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err = g.ticket.err; f.err == nil {
		f.good += int64(len(g.lines.b))
		f.made = false
	}
	g.lines.done()
	f.busy = f.next != nil
	return f.busy
}

// commit makes one group durable. Behind a failure nothing is synced again,
// for what a second sync says is not to be trusted: the file is cut back to
// what is durable, and the next Open verifies it.
func (f *File) commit(b []byte, made bool, good int64) error {
	failpoint.At(failpoint.CommitBefore)
	err := writeAll(f.disk, b)
	failpoint.At(failpoint.CommitWritten)
	if err == nil {
		err = f.sync(made)
	}
	if err != nil {
		_ = f.disk.Truncate(good)
		return appendError(f.run, err)
	}
	failpoint.At(failpoint.CommitSynced)
	return nil
}

// sync makes what was written durable, and the names of a file that is new: side
// by side, for a file system that journals makes one commit of it then.
func (f *File) sync(made bool) error {
	if !made {
		return f.disk.Sync()
	}
	names := make(chan error, 1)
	go func() { names <- f.home.syncNames(f.path) }()
	return errors.Join(f.disk.Sync(), <-names)
}

// writeAll writes b: at one go, but for the tests that die half way.
func writeAll(d disk, b []byte) error {
	if failpoint.On {
		n, err := d.Write(b[:len(b)/2])
		if err != nil {
			return err
		}
		failpoint.At(failpoint.CommitHalf)
		b = b[n:]
	}
	_, err := d.Write(b)
	return err
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
	if err := syncDir(filepath.Dir(path)); err != nil {
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
	if err := syncDir(n.dir); err != nil {
		return err
	}
	n.saved = covers
	return nil
}

func syncFile(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}
