package journal

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
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
	if e.err != nil {
		return Snapshot{}, e.err
	}
	if len(e.contents.Records) == 0 {
		return Snapshot{}, missing(run, fs.ErrNotExist)
	}
	s := Snapshot{Run: run, Journal: e.raw[:e.contents.Good:e.contents.Good]}
	if !bytes.HasSuffix(s.Journal, []byte{'\n'}) {
		s.Journal = append(s.Journal, '\n')
	}
	if e.head != nil {
		s.Head = e.headRaw
	}
	info, err := os.Stat(filepath.Join(h.Folder(run), fileName))
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
		if head, err = parseHead(headName, s.Run, s.Head); err != nil {
			return fmt.Errorf("run %s: %w", s.Run, err)
		}
	}
	c, err := decodeAndVerify(fileName, s.Journal, head.extent())
	if err == nil && (len(c.Records) == 0 || c.Good < len(s.Journal)) {
		err = fmt.Errorf("%s: %w: it ends within a line", fileName, ErrCorrupt)
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
	dir := h.Folder(s.Run)
	if err := os.Mkdir(dir, 0o700); err != nil {
		if errors.Is(err, fs.ErrExist) {
			return &ExistsError{s.Run}
		}
		return full(err)
	}
	path := filepath.Join(dir, fileName)
	err := h.replace(path, s.Journal, true)
	if err == nil {
		err = os.Chtimes(path, s.Changed, s.Changed)
	}
	if err == nil && s.Head != nil {
		err = h.replace(filepath.Join(dir, headName), s.Head, true)
	}
	if err == nil {
		err = h.syncNames(path)
	}
	if err != nil {
		return fmt.Errorf("adopt run %s: %w", s.Run, err)
	}
	return nil
}
