package journal

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/pexctl/pex/engine/regular"
)

// evidence is the content of a run's folder: each file verified by itself, and the
// journal compared with the extents in the head and lock file.
type evidence struct {
	head     *Head  // nil = none that is readable
	extent   extent // the longer one of the head and the lock file
	headRaw  []byte
	headErr  error // why head is nil: fs.ErrNotExist, ErrCorrupt, ErrNewer, or an I/O error
	raw      []byte
	contents Contents
	missing  bool  // there is no journal
	err      error // what is wrong with the journal, with the file name
}

// examine reads a run without its lock. It reads the head first, since the journal of a
// run in progress only grows, and retries a run that is being replaced.
func (h *Home) examine(run string) evidence {
	for try := 0; ; try++ {
		e := h.examineOnce(run)
		if e.extent.seq == 0 || e.err == nil || try == 3 {
			return e
		}
		again := h.examineOnce(run)
		if bytes.Equal(again.headRaw, e.headRaw) && again.extent == e.extent {
			return again
		}
	}
}

// examineOnce reads a run once.
func (h *Home) examineOnce(run string) evidence {
	var e evidence
	e.head, e.headRaw, e.headErr = readHead(h.Folder(run), run)
	e.extent = maxExtent(e.head.extent(), readExtent(h.Folder(run), run))
	path := filepath.Join(h.Folder(run), fileName)
	e.raw, e.err = regular.ReadFile(path)
	switch {
	case errors.Is(e.err, fs.ErrNotExist):
		e.missing = true
		e.err = missingJournal(run, path, e.extent)
	case e.err != nil:
		e.err = fmt.Errorf("read journal: %w", e.err)
	default:
		e.contents, e.err = decodeAndVerify(path, e.raw, e.extent)
	}
	return e
}

// decodeAndVerify decodes a journal and compares it with its known extent.
func decodeAndVerify(path string, b []byte, went extent) (Contents, error) {
	c, err := Decode(b)
	if err == nil && len(c.Records) == 0 && !isLinePrefix(b) {
		err = fmt.Errorf("%w: no record can be read in %d bytes", ErrCorrupt, len(b))
	}
	if err == nil {
		err = went.verify(b, c)
	}
	if err != nil {
		return c, fmt.Errorf("%s: %w", path, err)
	}
	return c, nil
}

// missingJournal returns the error for a run without a journal.
func missingJournal(run, path string, went extent) error {
	if went.seq == 0 {
		return missing(run, fs.ErrNotExist)
	}
	return fmt.Errorf("%s: %w: the file is gone, %d records were written", path, ErrCorrupt, went.seq)
}
