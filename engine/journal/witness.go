package journal

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/pexctl/pex/engine/regular"
)

// evidence is what a run's folder holds, each file verified by itself and the
// journal compared with the extents of its head and lock.
type evidence struct {
	head     *Head  // nil = none that can be read
	extent   extent // of the head or the lock file, whichever says more
	headRaw  []byte
	headErr  error // why there is none: fs.ErrNotExist, ErrCorrupt, ErrNewer, or the disk's
	raw      []byte
	contents Contents
	missing  bool  // there is no journal
	err      error // what is wrong with the journal, naming the file
}

// examine reads a run without its lock. The head is read first, for a run that
// is under way only grows; a run that is replaced at this moment is looked at
// again.
func (h *Home) examine(run string) evidence {
	for try := 0; ; try++ {
		e := h.read(run)
		if e.extent.seq == 0 || e.err == nil || try == 3 {
			return e
		}
		again := h.read(run)
		if bytes.Equal(again.headRaw, e.headRaw) && again.extent == e.extent {
			return again
		}
	}
}

// read is one look at a run.
func (h *Home) read(run string) evidence {
	var e evidence
	e.head, e.headRaw, e.headErr = readHead(h.Folder(run), run)
	e.extent = furthest(e.head.extent(), readExtent(h.Folder(run), run))
	path := filepath.Join(h.Folder(run), fileName)
	e.raw, e.err = regular.ReadFile(path)
	switch {
	case errors.Is(e.err, fs.ErrNotExist):
		e.missing = true
		e.err = absent(run, path, e.extent)
	case e.err != nil:
		e.err = fmt.Errorf("read journal: %w", e.err)
	default:
		e.contents, e.err = judge(path, e.raw, e.extent)
	}
	return e
}

// judge decodes a journal and compares it with how far it is known to have gone.
func judge(path string, b []byte, went extent) (Contents, error) {
	c, err := Decode(b)
	if err == nil && len(c.Records) == 0 && !beginning(b) {
		err = fmt.Errorf("%w: no record can be read in %d bytes", ErrCorrupt, len(b))
	}
	if err == nil {
		err = went.against(b, c)
	}
	if err != nil {
		return c, fmt.Errorf("%s: %w", path, err)
	}
	return c, nil
}

// absent is the error for a run without a journal.
func absent(run, path string, went extent) error {
	if went.seq == 0 {
		return missing(run, fs.ErrNotExist)
	}
	return fmt.Errorf("%s: %w: the file is gone, %d records were written", path, ErrCorrupt, went.seq)
}
