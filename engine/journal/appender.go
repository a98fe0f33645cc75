package journal

import (
	"errors"
	"sync"
	"time"

	"github.com/pexctl/pex/engine/failpoint"
)

// appender puts lines behind a file in groups: what is appended while a write
// or a sync is under way shares the next one.
type appender struct {
	disk  disk
	lanes chan struct{} // bounds the syncs under way at once
	owner owner

	mu      sync.Mutex // guards what follows
	next    *group
	last    *Ticket
	busy    bool
	made    bool  // the file is new: its folders are not yet synced
	good    int64 // durable length; of what nobody waits for, written length
	err     error // the first failure ends the file: nothing is written behind a hole
	behind  *time.Timer
	closed  bool
	reaches func(extent) // keeps how far the file durably goes; nil = nothing does
}

// owner knows what file it is.
type owner interface {
	syncNames() error       // makes the names of a new file durable
	cannot(err error) error // what ends the file, as users read it
}

// group is the appends that share one write and one sync.
type group struct {
	ticket  Ticket
	lines   *lines
	extent  extent // where its last line ends; zero = the file has no reaches
	durable bool   // the ticket is fulfilled by a sync, not by the write
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
	if cap(l.b) <= maxBuffer {
		l.b = l.b[:0]
		spareLines.Put(l)
	}
}

// waiting is the group that waits for its write. The caller holds mu.
func (a *appender) waiting() *group {
	if a.next == nil {
		a.next = &group{ticket: Ticket{done: make(chan struct{})}, lines: newLines()}
	}
	return a.next
}

// begin has the group that waits written. The caller holds mu.
func (a *appender) begin(durable bool) *Ticket {
	a.next.durable = a.next.durable || durable
	a.last = &a.next.ticket
	if !a.busy {
		a.busy = true
		go a.commits()
	}
	return a.last
}

// commits makes group after group durable until none is waiting. A group is
// written at once; what is appended until there is room for its sync shares it.
func (a *appender) commits() {
	for more := true; more; {
		c := commit{a: a}
		c.write()
		if c.durable {
			a.lanes <- struct{}{}
			c.write()
			c.sync()
			<-a.lanes
		}
		more = c.end()
	}
}

// settle waits for the last commit. Whoever appended is told of its failure.
func (a *appender) settle() {
	a.mu.Lock()
	t := a.last
	a.mu.Unlock()
	_ = t.Wait()
}

// commit is groups that are made durable together.
type commit struct {
	a       *appender
	tickets []*Ticket
	size    int64
	extent  extent
	made    bool
	durable bool
	err     error
}

// write writes the group that waits, if there is one.
func (c *commit) write() {
	a := c.a
	a.mu.Lock()
	g := a.next
	a.next, c.made = nil, a.made
	if c.err == nil {
		c.err = a.err
	}
	a.mu.Unlock()
	if g == nil {
		return
	}
	c.tickets = append(c.tickets, &g.ticket)
	c.durable = c.durable || g.durable
	if c.err == nil {
		failpoint.At(failpoint.CommitBefore)
		c.err = writeAll(a.disk, g.lines.b)
		failpoint.At(failpoint.CommitWritten)
		c.size += int64(len(g.lines.b))
		c.extent = g.extent
	}
	g.lines.done()
}

// sync makes durable what was written.
func (c *commit) sync() {
	if c.err == nil {
		c.err = c.a.sync(c.made)
	}
	if c.err == nil {
		failpoint.At(failpoint.CommitSynced)
	}
}

// end fulfils the tickets, and says whether another group waits. Behind a
// failure nothing is synced again, for what a second sync says is not to be
// trusted: the file is cut back to what is durable, and the next Open verifies it.
func (c *commit) end() (more bool) {
	a := c.a
	a.mu.Lock()
	switch {
	case c.err == nil:
		a.good += c.size
		if c.durable {
			a.made = false
			if a.reaches != nil && c.extent.seq > 0 {
				c.extent.bytes = a.good
				a.reaches(c.extent)
			}
		} else if c.size > 0 {
			a.later()
		}
	case a.err == nil:
		_ = a.disk.Truncate(a.good)
		a.err = a.owner.cannot(c.err)
	}
	err := a.err
	a.busy = a.next != nil
	more = a.busy
	a.mu.Unlock()
	for _, t := range c.tickets {
		t.err = err
		close(t.done)
	}
	return more
}

// sync makes what was written durable, and the names of a file that is new: side
// by side, for a file system that journals makes one commit of it then.
func (a *appender) sync(made bool) error {
	if !made {
		return a.disk.Sync()
	}
	names := make(chan error, 1)
	go func() { names <- a.owner.syncNames() }()
	return errors.Join(a.disk.Sync(), <-names)
}

// lateness is how long what nobody waits for may stay without a sync.
const lateness = 100 * time.Millisecond

// later syncs, a while from now, what was written. The caller holds mu.
func (a *appender) later() {
	if a.behind == nil && !a.closed {
		a.behind = time.AfterFunc(lateness, func() { _ = a.catchUp() })
	}
}

// catchUp syncs what was written and is not known to be durable, unless the
// file has ended.
func (a *appender) catchUp() error {
	a.lanes <- struct{}{}
	defer func() { <-a.lanes }()
	a.mu.Lock()
	owed, made, err := a.behind != nil, a.made, a.err
	a.behind = nil
	a.mu.Unlock()
	if err != nil || !owed {
		return err
	}
	err = a.sync(made)
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case err == nil:
		a.made = a.made && !made
	case a.err == nil:
		a.err = a.owner.cannot(err)
	}
	return a.err
}

// end writes and syncs what is left, and closes the file. The error is the
// first failure.
func (a *appender) end() error {
	a.settle()
	a.mu.Lock()
	a.closed = true
	if a.behind != nil {
		a.behind.Stop()
	}
	a.mu.Unlock()
	return errors.Join(a.catchUp(), a.disk.Close())
}

// writeAll writes b: at one go, but for the tests that die half way.
func writeAll(d disk, b []byte) error {
	if failpoint.Armed(failpoint.CommitHalf) {
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

// maxBuffer is the size up to which a buffer is kept to be used again.
const maxBuffer = 64 << 10
