package journal

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// evidence is what a run's folder holds, each file verified by itself and the
// journal held against the head.
type evidence struct {
	head     *Head // nil = none that can be read
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
		if e.head == nil || e.err == nil || try == 3 {
			return e
		}
		if _, again, _ := readHead(h.Folder(run), run); bytes.Equal(again, e.headRaw) {
			return e
		}
	}
}

// read is one look at a run.
func (h *Home) read(run string) evidence {
	var e evidence
	e.head, e.headRaw, e.headErr = readHead(h.Folder(run), run)
	path := filepath.Join(h.Folder(run), fileName)
	e.raw, e.err = os.ReadFile(path)
	switch {
	case errors.Is(e.err, fs.ErrNotExist):
		e.missing = true
		e.err = absent(run, path, e.head)
	case e.err != nil:
		e.err = fmt.Errorf("read journal: %w", e.err)
	default:
		e.contents, e.err = judge(path, e.raw, e.head)
	}
	return e
}

// judge decodes a journal and holds it against its head, if there is one.
func judge(path string, b []byte, head *Head) (Contents, error) {
	c, err := Decode(b)
	if err == nil {
		err = head.against(b, c)
	}
	if err != nil {
		return c, fmt.Errorf("%s: %w", path, err)
	}
	return c, nil
}

// absent is the error for a run without a journal.
func absent(run, path string, head *Head) error {
	if head == nil {
		return missing(run, fs.ErrNotExist)
	}
	return fmt.Errorf("%s: %w: the file is gone, %d records were written", path, ErrCorrupt, head.Seq)
}

// against says what a journal that is whole in itself lost since its head was
// written. Each line holds a hash of all before it: where one is as it was, all
// are.
func (d *Head) against(b []byte, c Contents) error {
	if d == nil {
		return nil
	}
	if n := uint64(len(c.Records)); n < d.Seq {
		return fmt.Errorf("%w: it ends with record %d, seq %d to %d are missing", ErrCorrupt, n, n+1, d.Seq)
	}
	end := d.Bytes - 1 // of the line, before its newline
	if end < int64(markLen) || end > int64(len(b)) {
		return fmt.Errorf("%w: record %d does not end at byte %d", ErrCorrupt, d.Seq, d.Bytes)
	}
	if hex.EncodeToString(d.Chain[:]) != string(b[end-18:end-2]) {
		return fmt.Errorf("%w: record %d is not the one that was written", ErrCorrupt, d.Seq)
	}
	return nil
}
