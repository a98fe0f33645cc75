package journal

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"

	"github.com/pexctl/pex/engine/regular"
)

// witness is what is known about a run besides its journal.
type witness struct {
	journal string // path of the journal
	file    string // path of the file with the head
	head    *Head  // the last head; nil = none that is readable
	line    []byte // the head as it is stored
	err     error  // why head is nil: fs.ErrNotExist, ErrCorrupt, ErrNewer, or an I/O error
	extent  extent // the longest that is known
}

// hadRecord reports whether the run had a record when its head was written.
func (w *witness) hadRecord() bool { return w.extent.seq > 0 || errors.Is(w.err, ErrNewer) }

// witness returns what is known about a run. Its journal must be read afterwards, since
// that of a run in progress grows.
func (h *Home) witness(run string) witness {
	path := h.path(run)
	if !exists(path) && h.isOld(run) {
		return h.oldWitness(run)
	}
	head, line, err := h.index.head(run)
	return witness{path, h.index.path, head, line, err, head.extent()}
}

// evidence is what is known about a run with its journal, each verified by itself, and the
// journal compared with the extent.
type evidence struct {
	witness
	raw        []byte
	contents   Contents
	missing    bool  // there is no journal
	journalErr error // what is wrong with the journal, with the file name
}

// examine reads a run without its lock. It retries a run that is being replaced.
func (h *Home) examine(run string) evidence {
	for try := 0; ; try++ {
		e := h.examineOnce(run)
		if e.extent.seq == 0 || e.journalErr == nil || try == 3 {
			return e
		}
		again := h.examineOnce(run)
		if bytes.Equal(again.line, e.line) && again.extent == e.extent {
			return again
		}
	}
}

// examineOnce reads a run once.
func (h *Home) examineOnce(run string) evidence {
	e := evidence{witness: h.witness(run)}
	e.raw, e.journalErr = regular.ReadFile(e.journal)
	switch {
	case errors.Is(e.journalErr, fs.ErrNotExist):
		e.missing = true
		e.journalErr = missingJournal(run, e.journal, e.extent)
	case e.journalErr != nil:
		e.journalErr = fmt.Errorf("read journal: %w", e.journalErr)
	default:
		e.contents, e.journalErr = decodeAndVerify(e.journal, e.raw, e.extent)
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
