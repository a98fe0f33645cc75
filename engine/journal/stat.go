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
