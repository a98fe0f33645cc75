package journal

import (
	"errors"
	"sync"
	"time"

	"github.com/pexctl/pex/engine/failpoint"
)

// appender appends lines to a file in groups: what is appended during a write or sync
// shares the next one.
type appender struct {
	disk      disk
	syncSlots chan struct{} // bounds concurrent syncs
	owner     owner
	committed func(time.Duration) // see Home.OnCommit; may be nil

	mu         sync.Mutex // guards the fields below
	next       *group
	last       *Ticket
	busy       bool
	isNew      bool  // the file is new: its directory entries are not synced yet
	good       int64 // durable length; with background syncs, written length
	err        error // the first failure; nothing is written after it
	syncTimer  *time.Timer
	syncs      sync.WaitGroup // scheduled syncs in progress
	closed     bool
	saveExtent func(extent) // stores the durable extent of the file; may be nil
}

// owner is the type that embeds an appender.
type owner interface {
	syncNames() error          // makes the directory entries of a new file durable
	wrapError(err error) error // adds what failed to an error that ends the file
}

// group is the appends that share one write and one sync.
type group struct {
	ticket  Ticket
	lines   *lineBuffer
	extent  extent // end of its last line; zero = not tracked
	durable bool   // the ticket is fulfilled by the sync rather than the write
}

// lineBuffer is a pooled buffer of encoded records.
type lineBuffer struct{ b []byte }

var linesPool = sync.Pool{New: func() any { return &lineBuffer{make([]byte, 0, 4<<10)} }}

func newLines() *lineBuffer {
	l, _ := linesPool.Get().(*lineBuffer)
	return l
}

// release returns the buffer to the pool, unless it grew large.
func (l *lineBuffer) release() {
	if cap(l.b) <= maxBuffer {
		l.b = l.b[:0]
		linesPool.Put(l)
	}
}

// pendingGroup returns the group that waits to be written. The caller holds mu.
func (a *appender) pendingGroup() *group {
	if a.next == nil {
		a.next = &group{ticket: Ticket{done: make(chan struct{}), appender: a}, lines: newLines()}
	}
	return a.next
}

// idle reports whether what is appended now can be written at once. The caller holds mu.
func (a *appender) idle() bool { return !a.busy && a.next == nil }

// writeNow writes lines without syncing them. The caller holds mu and has checked idle.
func (a *appender) writeNow(lines []byte) error {
	failpoint.At(failpoint.CommitBefore)
	if err := writeAll(a.disk, lines); err != nil {
		_ = a.disk.Truncate(a.good)
		a.err = a.owner.wrapError(err)
		return a.err
	}
	failpoint.At(failpoint.CommitWritten)
	a.good += int64(len(lines))
	return nil
}

// commitSoon returns the ticket of the pending group. Its commit follows the running one,
// or is left to whoever waits for the ticket. The caller holds mu.
func (a *appender) commitSoon(durable bool) *Ticket {
	a.next.durable = a.next.durable || durable
	a.last = &a.next.ticket
	return a.last
}

// startCommit commits the pending group in the background. The caller holds mu.
func (a *appender) startCommit() {
	a.commitSoon(false)
	if !a.busy {
		a.busy = true
		go a.commitLoop()
	}
}

// claim reports whether the caller must commit the group of t. It then counts as running.
func (a *appender) claim(t *Ticket) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.busy || a.next == nil || &a.next.ticket != t {
		return false
	}
	a.busy = true
	return true
}

// commitLoop commits groups until none is pending.
func (a *appender) commitLoop() {
	for a.commitOnce() {
	}
}

// commitOnce commits the pending group and reports whether there is another one. A group
// is written at once; what is appended until a sync slot is free shares its sync.
func (a *appender) commitOnce() (more bool) {
	c := commit{a: a}
	var began time.Time
	if a.committed != nil {
		began = time.Now()
	}
	c.write()
	if c.durable {
		a.syncSlots <- struct{}{}
		c.write()
		c.sync()
		<-a.syncSlots
	}
	if a.committed != nil && c.durable && c.err == nil {
		a.committed(time.Since(began))
	}
	return c.end()
}

// settle waits for the last commit. Its error was reported by its ticket.
func (a *appender) settle() {
	a.mu.Lock()
	t := a.last
	a.mu.Unlock()
	_ = t.Wait()
}

// commit is groups made durable together.
type commit struct {
	a       *appender
	tickets []*Ticket
	size    int64
	extent  extent
	isNew   bool
	durable bool
	err     error
}

// write writes the pending group, if there is one.
func (c *commit) write() {
	a := c.a
	a.mu.Lock()
	g := a.next
	a.next, c.isNew = nil, a.isNew
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
	g.lines.release()
}

// sync makes durable what was written.
func (c *commit) sync() {
	if c.err == nil {
		c.err = c.a.sync(c.isNew)
	}
	if c.err == nil {
		failpoint.At(failpoint.CommitSynced)
	}
}

// end fulfills the tickets and reports whether another group is pending. After a failure
// nothing is synced again, since the result of a second sync is not reliable: the file is
// truncated to its durable length, and the next Open verifies it.
func (c *commit) end() (more bool) {
	a := c.a
	a.mu.Lock()
	switch {
	case c.err == nil:
		a.good += c.size
		if c.durable {
			a.isNew = false
			a.unscheduleSync()
			if a.saveExtent != nil && c.extent.seq > 0 {
				c.extent.bytes = a.good
				a.saveExtent(c.extent)
			}
		} else if c.size > 0 {
			a.scheduleSync()
		}
	case a.err == nil:
		_ = a.disk.Truncate(a.good)
		a.err = a.owner.wrapError(c.err)
	}
	for _, t := range c.tickets { // before another goroutine may commit later groups
		t.err = a.err
		close(t.done)
	}
	a.busy = a.next != nil
	more = a.busy
	a.mu.Unlock()
	return more
}

// sync syncs the file and, if it is new, its directory entries. Both run concurrently, so
// that a journaling file system can combine them.
func (a *appender) sync(made bool) error {
	if !made {
		return a.disk.Sync()
	}
	names := make(chan error, 1)
	go func() { names <- a.owner.syncNames() }()
	return errors.Join(a.disk.Sync(), <-names)
}

// syncDelay is how long background writes may stay unsynced.
const syncDelay = 100 * time.Millisecond

// scheduleSync schedules a sync of what was written. The caller holds mu.
func (a *appender) scheduleSync() {
	if a.syncTimer == nil && !a.closed {
		a.syncTimer = time.AfterFunc(syncDelay, func() { _ = a.syncPending() })
	}
}

// unscheduleSync drops the scheduled sync after one of the whole file. The caller holds mu.
func (a *appender) unscheduleSync() {
	if a.syncTimer != nil {
		a.syncTimer.Stop()
		a.syncTimer = nil
	}
}

// syncPending syncs what was written but not synced, unless the file has failed.
func (a *appender) syncPending() error {
	a.syncSlots <- struct{}{}
	defer func() { <-a.syncSlots }()
	a.mu.Lock()
	owed, made, err := a.syncTimer != nil, a.isNew, a.err
	a.syncTimer = nil
	if err != nil || !owed {
		a.mu.Unlock()
		return err
	}
	a.syncs.Add(1)
	defer a.syncs.Done()
	a.mu.Unlock()
	err = a.sync(made)
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case err == nil:
		a.isNew = a.isNew && !made
	case a.err == nil:
		a.err = a.owner.wrapError(err)
	}
	return a.err
}

// stopSyncing syncs what is left to sync before the file is closed, and waits for a sync
// in progress. It does not repeat an earlier error.
func (a *appender) stopSyncing() error {
	a.mu.Lock()
	a.closed = true
	failed := a.err != nil
	if a.syncTimer != nil {
		a.syncTimer.Stop()
	}
	a.mu.Unlock()
	_ = a.syncPending() // also in a.err
	a.syncs.Wait()
	if failed {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.err
}

// end writes and syncs what is left and closes the file. It returns the first error.
func (a *appender) end() error {
	a.settle()
	a.mu.Lock()
	err := a.err
	a.mu.Unlock()
	return errors.Join(err, a.stopSyncing(), a.disk.Close())
}

// writeAll writes b in one call, except in tests that crash halfway.
func writeAll(d disk, b []byte) error {
	if failpoint.Enabled(failpoint.CommitHalf) {
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

// maxBuffer is the largest buffer kept for reuse.
const maxBuffer = 64 << 10
