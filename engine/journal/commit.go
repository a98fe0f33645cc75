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

// commits makes group after group durable until none is waiting. A group is
// written at once; what is appended until there is room for its sync shares it.
func (f *File) commits() {
	for more := true; more; {
		c := commit{f: f}
		c.write()
		f.home.lanes <- struct{}{}
		c.write()
		c.sync()
		<-f.home.lanes
		more = c.end()
	}
}

// commit is groups that are made durable together.
type commit struct {
	f       *File
	tickets []*Ticket
	size    int64
	made    bool
	err     error
}

// write writes the group that waits, if there is one.
func (c *commit) write() {
	f := c.f
	f.mu.Lock()
	g := f.next
	f.next, c.made = nil, f.made
	if c.err == nil {
		c.err = f.err
	}
	f.mu.Unlock()
	if g == nil {
		return
	}
	c.tickets = append(c.tickets, &g.ticket)
	if c.err == nil {
		failpoint.At(failpoint.CommitBefore)
		c.err = writeAll(f.disk, g.lines.b)
		failpoint.At(failpoint.CommitWritten)
		c.size += int64(len(g.lines.b))
	}
	g.lines.done()
}

// sync makes durable what was written.
func (c *commit) sync() {
	if c.err == nil {
		c.err = c.f.sync(c.made)
	}
	if c.err == nil {
		failpoint.At(failpoint.CommitSynced)
	}
}

// end fulfils the tickets, and says whether another group waits. Behind a
// failure nothing is synced again, for what a second sync says is not to be
// trusted: the file is cut back to what is durable, and the next Open verifies it.
func (c *commit) end() (more bool) {
	f := c.f
	f.mu.Lock()
	switch {
	case c.err == nil:
		f.good += c.size
		f.made = false
	case f.err == nil:
		_ = f.disk.Truncate(f.good)
		f.err = appendError(f.run, c.err)
	}
	err := f.err
	f.busy = f.next != nil
	more = f.busy
	f.mu.Unlock()
	for _, t := range c.tickets {
		t.err = err
		close(t.done)
	}
	return more
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
