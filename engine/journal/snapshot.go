package journal

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"time"
)

// Snapshot is a copy of a run at one moment.
type Snapshot struct {
	Run     string
	Journal []byte // complete lines
	Head    []byte // nil = none
	Changed time.Time
}

// Snapshot copies a run without locking it; of a run in progress it copies the complete
// lines. The error wraps ErrCorrupt if the run is damaged, and fs.ErrNotExist if there is
// no such run.
func (h *Home) Snapshot(run string) (Snapshot, error) {
	if err := checkID(run); err != nil {
		return Snapshot{}, err
	}
	e := h.examine(run)
	if e.journalErr != nil {
		return Snapshot{}, e.journalErr
	}
	if len(e.contents.Records) == 0 {
		return Snapshot{}, missing(run, fs.ErrNotExist)
	}
	s := Snapshot{Run: run, Journal: e.raw[:e.contents.Good:e.contents.Good]}
	if !bytes.HasSuffix(s.Journal, []byte{'\n'}) {
		s.Journal = append(s.Journal, '\n')
	}
	if e.head != nil {
		s.Head = e.line
	}
	info, err := os.Stat(e.journal)
	if err != nil {
		return Snapshot{}, missing(run, err)
	}
	s.Changed = info.ModTime()
	return s, nil
}

// Verify checks the run like Read does.
func (s *Snapshot) Verify() error {
	if err := checkID(s.Run); err != nil {
		return err
	}
	var head *Head
	if s.Head != nil {
		var err error
		if head, err = parseHead("head", s.Run, s.Head); err != nil {
			return fmt.Errorf("run %s: %w", s.Run, err)
		}
	}
	c, err := decodeAndVerify("journal", s.Journal, head.extent())
	if err == nil && (len(c.Records) == 0 || c.Good < len(s.Journal)) {
		err = fmt.Errorf("journal: %w: it ends within a line", ErrCorrupt)
	}
	if err != nil {
		return fmt.Errorf("run %s: %w", s.Run, err)
	}
	return nil
}

// Adopt creates a run from a snapshot, which it verifies before writing anything. A run
// with that id must not exist.
func (h *Home) Adopt(s Snapshot) error {
	if err := s.Verify(); err != nil {
		return err
	}
	path := h.path(s.Run)
	if exists(path) || h.isOld(s.Run) {
		return &ExistsError{s.Run}
	}
	var err error
	if h.hasLogs() {
		err = h.voidLogs(s.Run)
	}
	if err == nil {
		err = replaceFile(path, s.Journal, true)
	}
	if err == nil {
		err = os.Chtimes(path, s.Changed, s.Changed)
	}
	if err == nil && s.Head != nil {
		err = h.index.append(s.Head, true)
	}
	if err == nil {
		err = h.names.save()
	}
	if err != nil {
		return fmt.Errorf("adopt run %s: %w", s.Run, err)
	}
	return nil
}
