package journal

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// Stat is what can be said of a run from outside.
type Stat struct {
	Run     string
	Records int       // that can be read
	Bytes   int64     // of all its files
	Changed time.Time // when its journal last changed
	Ended   bool      // its last record is its end: nothing of it waits or can go on by itself
	Held    bool      // someone has it open
	PID     int       // who; 0 = unknown
	Unread  error     // why not all records can be read: ErrCorrupt or ErrNewer; nil = all can
}

// Stat looks at a run without locking it. The error wraps fs.ErrNotExist when
// there is no such run; damage is no error.
func (h *Home) Stat(run string) (Stat, error) {
	recs, err := h.Read(run)
	if err != nil && !errors.Is(err, ErrCorrupt) && !errors.Is(err, ErrNewer) {
		return Stat{}, err
	}
	st := Stat{Run: run, Records: len(recs), Unread: err}
	if n := len(recs); n > 0 && err == nil {
		st.Ended = recs[n-1].Kind == End
	}
	dir := h.Folder(run)
	if st.Bytes, err = size(dir); err != nil {
		return Stat{}, fmt.Errorf("run %s: %w", run, err)
	}
	for _, name := range []string{fileName, headName} {
		if info, err := os.Stat(filepath.Join(dir, name)); err == nil {
			st.Changed = info.ModTime()
			break
		}
	}
	st.PID, st.Held = held(filepath.Join(dir, lockName))
	return st, nil
}

// Holder is the process that has a run open; pid 0 = unknown.
func (h *Home) Holder(run string) (pid int, yes bool) {
	return held(filepath.Join(h.Folder(run), lockName))
}
