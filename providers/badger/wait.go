package badger

import (
	"path/filepath"
	"time"

	"github.com/pexctl/pex/engine/regular"
)

// Wait describes a store held by another process.
type Wait struct {
	Dir    string
	PID    int // of the holder; 0 = unknown
	Queue  int // processes before this one
	Waited time.Duration
}

// When a wait is reported.
const (
	firstReport = 3 * time.Second
	nextReport  = 10 * time.Second
)

// How often a waiting process polls: the next in line often, others less often.
const (
	fastestPoll  = time.Millisecond
	pollPerPlace = 5 * time.Millisecond
	slowestPoll  = 200 * time.Millisecond
)

// wait is one process's wait for the store.
type wait struct {
	store      *Store
	start      time.Time
	ticket     *ticket // nil = not queued, or not possible
	joined     bool
	ahead      int // processes ahead at the last poll
	lastReport time.Time
	forInbox   bool // the holder is unknown, and there is no queue
}

// updateAhead returns how many processes are ahead. It joins a queue in which others
// wait.
func (w *wait) updateAhead() int {
	if !w.joined && regular.CanLock && queueOf(w.store.dir).hasWaiters() {
		w.join()
	}
	w.ahead = 0
	if w.ticket != nil {
		w.ahead = w.ticket.ahead()
	}
	return w.ahead
}

// join takes a ticket. If that fails, for instance on a full disk, the process waits
// without one.
func (w *wait) join() {
	if !w.joined && regular.CanLock {
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

// timedOut reports whether the wait has exceeded LockWait.
func (w *wait) timedOut() bool {
	limit := w.store.o.LockWait
	return limit > 0 && time.Since(w.start) > limit
}

// interval returns the time until the next poll.
func (w *wait) interval() time.Duration {
	if w.ticket == nil {
		return pollPerPlace
	}
	return min(fastestPoll+time.Duration(w.ahead)*pollPerPlace, slowestPoll)
}

// report reports the wait if it is due.
func (w *wait) report() { w.reportAt(time.Now()) }

func (w *wait) reportAt(now time.Time) {
	due := w.start.Add(firstReport)
	if !w.lastReport.IsZero() {
		due = w.lastReport.Add(nextReport)
	}
	w.store.mu.Lock()
	report := w.store.report
	w.store.mu.Unlock()
	if report == nil || now.Before(due) {
		return
	}
	w.lastReport = now
	report(Wait{Dir: w.store.dir, PID: w.holder(), Queue: w.ahead, Waited: now.Sub(w.start)})
}

// timeoutError returns the error of an unsuccessful wait; err is the context's error, if
// it ended.
func (w *wait) timeoutError(err error) error {
	return &LockedError{Dir: w.store.dir, PID: w.holder(), Waited: time.Since(w.start), Err: err}
}

func (w *wait) holder() int {
	if w.forInbox {
		return 0
	}
	return pidIn(filepath.Join(w.store.dir, lockFile))
}
