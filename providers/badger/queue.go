package badger

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/pexctl/pex/engine/regular"
)

// queue is the folder with a ticket for each waiting process: a numbered file, locked
// while the process waits. A process is next when no lower ticket is locked, so the store
// is handed over in order of arrival. An unlocked ticket belongs to a dead process; the
// next process removes it. The queue only provides fairness; exclusion is provided by the
// store's lock.
type queue struct{ dir string }

// queueOf returns the queue of the store in dir.
func queueOf(dir string) queue { return queue{filepath.Join(dir, queueDir)} }

// ticket is a position in a queue.
type ticket struct {
	queue  queue
	number int
	file   *os.File
}

// ticketTries bounds the attempts to take a ticket, each of which fails only if another
// process uses the same number concurrently.
const ticketTries = 1000

// take adds a ticket at the end.
func (q queue) take() (*ticket, error) {
	if err := os.MkdirAll(q.dir, 0o700); err != nil {
		return nil, err
	}
	numbers, err := q.numbers()
	if err != nil {
		return nil, err
	}
	next := 1
	if n := len(numbers); n > 0 {
		next = numbers[n-1] + 1
	}
	for range ticketTries {
		f, err := os.OpenFile(q.path(next), os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
		if errors.Is(err, fs.ErrExist) {
			next++
			continue
		}
		if err != nil {
			return nil, err
		}
		if ok, err := regular.TryLock(f); err != nil {
			f.Close()
			return nil, err
		} else if ok && !wasReplaced(f) { // locked by this process
			return &ticket{q, next, f}, nil
		}
		f.Close() // another process saw it unlocked and removed it, or is about to
		next++
	}
	return nil, errors.New("too many attempts to take a ticket")
}

// leave removes the ticket.
func (t *ticket) leave() {
	_ = os.Remove(t.file.Name())
	t.file.Close()
}

// ahead returns the number of processes before this one.
func (t *ticket) ahead() int {
	numbers, err := t.queue.numbers()
	if err != nil {
		return 0
	}
	lower, _ := slices.BinarySearch(numbers, t.number)
	for lower > 0 && !t.queue.alive(numbers[lower-1]) {
		lower--
	}
	return lower
}

// hasWaiters reports whether a process waits.
func (q queue) hasWaiters() bool {
	if !regular.CanLock {
		return true // cannot be determined, so always hand over
	}
	numbers, err := q.numbers()
	return err == nil && slices.ContainsFunc(numbers, q.alive)
}

// alive reports whether the process of a ticket still waits; otherwise it removes the
// ticket.
func (q queue) alive(number int) bool {
	f, err := regular.Open(q.path(number))
	if err != nil {
		return false
	}
	defer f.Close()
	if free, err := regular.TryShare(f); !free {
		return err == nil
	}
	if !wasReplaced(f) {
		_ = os.Remove(f.Name())
	}
	return false
}

// numbers returns the ticket numbers in order.
func (q queue) numbers() ([]int, error) {
	entries, err := os.ReadDir(q.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var out []int
	for _, e := range entries {
		if n, err := strconv.Atoi(e.Name()); err == nil && e.Type().IsRegular() {
			out = append(out, n)
		}
	}
	slices.Sort(out)
	return out, err
}

func (q queue) path(number int) string { return filepath.Join(q.dir, strconv.Itoa(number)) }
