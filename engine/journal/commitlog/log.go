package commitlog

import (
	"errors"
	"os"
	"sync"
	"time"

	"github.com/pexctl/pex/engine/failpoint"
)

// Options configure a Log.
type Options struct {
	// Checkpoint makes the files of these names durable, with their directory entries. It
	// may be called while frames are added, but not twice at once. A file may be gone.
	Checkpoint func(names []string) error
	// Limit is how many bytes a segment has before there is a checkpoint; 0 = 32 MB.
	Limit int64
	// Committed is called with the time that each group took to become durable. It must not
	// block. May be nil.
	Committed func(time.Duration)
	// Wrap wraps the files of the segments, for tests with failing disks. May be nil.
	Wrap func(Disk) Disk
}

// Disk is the file of a segment.
type Disk = disk

// flushDelay is how long a frame that no caller waits for may stay undurable.
const flushDelay = 100 * time.Millisecond

// Log is a log of this process. It is safe for concurrent use.
type Log struct {
	o        Options
	dir      string
	lock     *os.File
	segments [2]segment
	end      position // of the next block

	mu         sync.Mutex // guards the fields below; the flush in progress owns those above
	free       [][]byte   // pieces for groups
	names      []string   // of a group that is done
	head       []byte     // of a frame
	next       *Group
	last       *Group // the latest one
	flushing   bool
	closed     bool
	timer      *time.Timer
	err        error         // the log cannot be used any more
	checkpoint chan struct{} // of the segment that is not active: closed when the running checkpoint has ended; nil = none
}

// Group is frames that become durable together.
type Group struct {
	log   *Log
	done  chan struct{}
	err   error
	block buffer
	names []string // of its frames
	soon  bool     // a caller waits
}

// Add adds a frame to the group that is flushed next. It does not retain the bytes. The
// group is flushed when a caller waits for it, or after 100 ms. The frames of a file must
// be added in order and without gaps: after is the group of the file's previous frame, nil
// for the first one. If that has failed, Add returns its error.
func (l *Log) Add(f *Frame, after *Group) (*Group, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err != nil {
		return nil, l.err
	}
	if after != nil && after.err != nil {
		return nil, after.err
	}
	if l.closed {
		return nil, os.ErrClosed
	}
	g := l.next
	if g == nil {
		g = &Group{log: l, done: make(chan struct{}), names: l.names[:0]}
		l.names = nil
		g.block.write(padding[:headerLen], l.piece)
		l.next, l.last = g, g
		if l.timer == nil {
			l.timer = time.AfterFunc(flushDelay, l.flushLate)
		} else {
			l.timer.Reset(flushDelay)
		}
	}
	l.head = appendHead(l.head[:0], f)
	g.block.write(l.head, l.piece)
	g.block.write(f.Bytes, l.piece)
	g.names = append(g.names, f.Name)
	return g, nil
}

// piece returns a piece for a block. The caller holds mu.
func (l *Log) piece() []byte {
	n := len(l.free)
	if n == 0 {
		return make([]byte, 0, pieceSize)
	}
	p := l.free[n-1]
	l.free = l.free[:n-1]
	return p
}

// maxFree is how many pieces are kept for reuse.
const maxFree = 32

// Wait flushes the group, unless that is done or being done, and returns when its frames
// are durable.
func (g *Group) Wait() error {
	if g.claim() && g.log.flush() {
		go g.log.flushAll()
	}
	<-g.done
	return g.err
}

// Start has the group flushed in the background.
func (g *Group) Start() {
	if g.claim() {
		go g.log.flushAll()
	}
}

// Done returns a channel that is closed when the group is durable or has failed.
func (g *Group) Done() <-chan struct{} { return g.done }

// Err returns why a group failed that is done.
func (g *Group) Err() error { return g.err }

// claim notes that a caller waits for the group, and reports whether the caller must flush
// it.
func (g *Group) claim() bool {
	l := g.log
	l.mu.Lock()
	defer l.mu.Unlock()
	g.soon = true
	if l.flushing || l.next != g {
		return false
	}
	l.flushing = true
	return true
}

// flushLate flushes frames that no caller waits for.
func (l *Log) flushLate() {
	l.mu.Lock()
	g := l.next
	l.mu.Unlock()
	if g != nil {
		g.Start()
	}
}

func (l *Log) flushAll() {
	for l.flush() {
	}
}

// flush makes the next group durable, and reports whether a caller waits for another one.
func (l *Log) flush() (more bool) {
	l.mu.Lock()
	g := l.next
	l.next = nil
	l.mu.Unlock()
	var began time.Time
	if l.o.Committed != nil {
		began = time.Now()
	}
	err := l.write(g)
	if err == nil {
		failpoint.At(failpoint.CommitSynced)
	}
	if err == nil && l.o.Committed != nil {
		l.o.Committed(time.Since(began))
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.finish(g, err)
	if err != nil && l.next != nil { // may continue files of the group that failed
		l.finish(l.next, err)
		l.next = nil
	}
	l.flushing = l.next != nil && l.next.soon
	return l.flushing
}

// finish ends a group. The caller holds mu.
func (l *Log) finish(g *Group, err error) {
	for _, p := range g.block.pieces {
		if len(l.free) < maxFree {
			l.free = append(l.free, p)
		}
	}
	clear(g.names)
	g.block, l.names, g.names, g.err = buffer{}, g.names, nil, err
	close(g.done)
}

// write appends the group to the active segment as a block.
func (l *Log) write(g *Group) error {
	if err := l.Err(); err != nil {
		return err
	}
	size := int64(padded(g.block.size))
	if err := l.makeRoom(size); err != nil {
		return err
	}
	s := l.active()
	seal(&g.block, l.end)
	if err := s.write(&g.block); err != nil {
		l.fail(err)
		return err
	}
	l.end.number++
	for _, name := range g.names {
		s.names[name] = struct{}{}
	}
	return nil
}

// makeRoom makes room for a block in the active segment, or else turns to the other one,
// which may have room on a full disk.
func (l *Log) makeRoom(size int64) error {
	s := l.active()
	if s.at == align || s.at+size <= l.o.Limit {
		if err := s.grow(size); err == nil || s.at == align {
			return err
		}
	}
	if err := l.turn(); err != nil {
		return err
	}
	return l.active().grow(size)
}

func (l *Log) active() *segment { return &l.segments[l.end.generation%2] }

// turn continues in the other segment once its checkpoint is complete, and starts one of
// this segment.
func (l *Log) turn() error {
	if err := l.waitCheckpoint(); err != nil {
		return err
	}
	full, names := l.active(), l.active().files()
	generation := l.end.generation + 2
	l.end.generation++
	done := make(chan struct{})
	l.mu.Lock()
	l.checkpoint = done
	l.mu.Unlock()
	go func() {
		defer close(done)
		err := l.o.Checkpoint(names)
		if err == nil {
			err = full.begin(generation)
		}
		if err != nil {
			l.fail(err)
		}
	}()
	return nil
}

func (s *segment) files() []string {
	names := make([]string, 0, len(s.names))
	for name := range s.names {
		names = append(names, name)
	}
	return names
}

// waitCheckpoint waits for the running checkpoint. After a failed one the log has the only
// durable copy of some bytes, so it must not be reused.
func (l *Log) waitCheckpoint() error {
	l.mu.Lock()
	running := l.checkpoint
	l.mu.Unlock()
	if running != nil {
		<-running
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

// fail ends the log.
func (l *Log) fail(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err == nil {
		l.err = err
	}
}

// Err returns the error that ended the log, or nil.
func (l *Log) Err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

// Close flushes the log, makes the files durable and removes the log. If that fails, the
// log is left for Recover.
func (l *Log) Close() error {
	l.mu.Lock()
	if l.closed {
		l.mu.Unlock()
		return nil
	}
	l.closed = true
	last := l.last
	if l.timer != nil {
		l.timer.Stop()
	}
	l.mu.Unlock()
	if last != nil {
		_ = last.Wait() // was reported
	}
	err := l.waitCheckpoint()
	if err == nil && len(l.active().names) > 0 {
		err = l.o.Checkpoint(l.active().files())
	}
	if err == nil {
		err = remove(l.lock.Name())
	}
	for i := range l.segments {
		err = errors.Join(err, l.segments[i].file.Close())
	}
	return err
}
