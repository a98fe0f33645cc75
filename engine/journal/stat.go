package journal

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// Stat describes a run without opening it.
type Stat struct {
	Run       string
	Records   int       // readable ones
	Bytes     int64     // of all its files
	Changed   time.Time // modification time of its journal
	Ended     bool      // its last record is its end, so nothing is left to do
	Open      bool      // it is open
	PID       int       // in this process; 0 = unknown
	ReadError error     // why records are unreadable: ErrCorrupt or ErrNewer; nil = all are readable
}

// Stat describes a run without locking it. The error wraps fs.ErrNotExist if there is no
// such run; damage is not an error.
func (h *Home) Stat(run string) (Stat, error) {
	recs, err := h.Read(run)
	if err != nil && !errors.Is(err, ErrCorrupt) && !errors.Is(err, ErrNewer) {
		return Stat{}, err
	}
	st := Stat{Run: run, Records: len(recs), ReadError: err}
	if n := len(recs); n > 0 && err == nil {
		st.Ended = recs[n-1].Kind == End
	}
	path := h.File(run)
	if st.Bytes, err = size(h.Folder(run)); err != nil {
		return Stat{}, fmt.Errorf("run %s: %w", run, err)
	}
	if info, err := os.Stat(path); err == nil {
		st.Changed = info.ModTime()
		if path == h.path(run) {
			st.Bytes += info.Size()
		}
	} else if info, err := os.Stat(h.Folder(run)); err == nil { // the journal is gone
		st.Changed = info.ModTime()
	}
	st.PID, st.Open = h.Holder(run)
	return st, nil
}

// Holder returns the process that has a run open; pid 0 = unknown.
func (h *Home) Holder(run string) (pid int, yes bool) {
	if path := h.path(run); exists(path) {
		return journalHolder(path)
	}
	return lockHolder(filepath.Join(h.Folder(run), oldLock))
}

// Stamp identifies a state of the list of runs and of their heads. Two equal stamps of a home
// are of the same state if Settled.
type Stamp struct {
	runs, index int64 // times of the last change
	size        int64 // of the index
}

// coarse is the greatest granularity of the times of files.
const coarse = 2 * time.Second

// Settled reports whether a later change has a later time. A change just before now may share
// its time with the next one.
func (s Stamp) Settled(now time.Time) bool {
	return s.runs != 0 && now.UnixNano()-max(s.runs, s.index) > int64(coarse)
}

// Stamp returns the present state. It is the zero Stamp, which is never settled, if it cannot be
// read.
func (h *Home) Stamp() Stamp {
	dir, err := os.Stat(h.runs)
	if err != nil {
		return Stamp{}
	}
	s := Stamp{runs: dir.ModTime().UnixNano()}
	if info, err := os.Stat(h.index.path); err == nil {
		s.index, s.size = info.ModTime().UnixNano(), info.Size()
	}
	return s
}
