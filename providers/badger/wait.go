package badger

import (
	"path/filepath"
	"time"
)

// Wait describes a store that another process has.
type Wait struct {
	Dir    string
	PID    int // of the process that has the store, 0 where it is not known
	Ahead  int // processes that come before this one
	Waited time.Duration
}

// When a wait is reported.
const (
	firstReport = 3 * time.Second
	nextReport  = 10 * time.Second
)

// How often a waiting process looks again: the next in line often, the others
// less often the further back they are.
const (
	fastestPoll  = time.Millisecond
	pollPerPlace = 5 * time.Millisecond
	slowestPoll  = 200 * time.Millisecond
)

// wait is one process's wait for the store.
type wait struct {
	store    *Store
	began    time.Time
	ticket   *ticket // nil = it has not joined the queue, or cannot
	joined   bool
	before   int // processes ahead at the last look
	reported time.Time
}

// ahead is how many processes come first. A process that has not joined a
// queue in which others wait joins it.
func (w *wait) ahead() int {
	if !w.joined && canQueue && queueOf(w.store.dir).awaited() {
		w.join()
	}
	w.before = 0
	if w.ticket != nil {
		w.before = w.ticket.ahead()
	}
	return w.before
}

// join takes a ticket. Where none can be taken, on a full disk for instance,
// the process waits without one.
func (w *wait) join() {
	if !w.joined && canQueue {
		w.ticket, _ = queueOf(w.store.dir).take()
	}
	w.joined = true
}

// leave ends the wait.
func (w *wait) leave() {
	if w.ticket != nil {
		w.ticket.leave()
	}
}

// over reports whether the wait has taken as long as it may.
func (w *wait) over() bool {
	most := w.store.o.LockWait
	return most > 0 && time.Since(w.began) > most
}

// interval is how long to pause before the next look.
func (w *wait) interval() time.Duration {
	if w.ticket == nil {
		return pollPerPlace
	}
	return min(fastestPoll+time.Duration(w.before)*pollPerPlace, slowestPoll)
}

// tell reports the wait when it is time to.
func (w *wait) tell() { w.tellAt(time.Now()) }

func (w *wait) tellAt(now time.Time) {
	due := w.began.Add(firstReport)
	if !w.reported.IsZero() {
		due = w.reported.Add(nextReport)
	}
	w.store.mu.Lock()
	report := w.store.report
	w.store.mu.Unlock()
	if report == nil || now.Before(due) {
		return
	}
	w.reported = now
	report(Wait{Dir: w.store.dir, PID: w.holder(), Ahead: w.before, Waited: now.Sub(w.began)})
}

// locked is the error of a wait that ended without the store; err is the
// context's, if that ended it.
func (w *wait) locked(err error) error {
	return &LockedError{Dir: w.store.dir, PID: w.holder(), Waited: time.Since(w.began), Err: err}
}

func (w *wait) holder() int { return pidIn(filepath.Join(w.store.dir, lockFile)) }
