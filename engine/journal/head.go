package journal

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/pexctl/pex/engine/jsonvalue"

	"github.com/pexctl/pex/engine/failpoint"
	"github.com/pexctl/pex/engine/regular"
)

const headName = "run.json"

// Head is what the last finished session stored next to its journal: how long the journal
// was, and a summary of the run. A journal cannot tell by itself that its last lines are
// lost; the head can. It also saves reading the journal for the summary. A killed session
// leaves the previous head, or none.
type Head struct {
	Version int             `json:"v"`
	Run     string          `json:"run_id"`
	Seq     uint64          `json:"seq"`   // of the last record
	Chain   Chain           `json:"chain"` // of the last line
	Bytes   int64           `json:"bytes"` // of the complete lines
	Summary json.RawMessage `json:"summary,omitempty"`
	Stale   bool            `json:"-"` // the journal has later records: a session is running, or was killed
}

// extent returns the extent in the head; zero if d is nil.
func (d *Head) extent() extent {
	if d == nil {
		return extent{}
	}
	return extent{d.Seq, d.Bytes, d.Chain}
}

// Head returns a run's head. The error wraps fs.ErrNotExist if there is none, and
// ErrCorrupt if it is unreadable, which does not harm the run.
func (h *Home) Head(run string) (Head, error) {
	if err := checkID(run); err != nil {
		return Head{}, err
	}
	head, _, err := readHead(h.Folder(run), run)
	if err != nil {
		return Head{}, err
	}
	info, err := os.Stat(filepath.Join(h.Folder(run), fileName))
	head.Stale = err == nil && info.Size() > head.Bytes || readExtent(h.Folder(run), run).seq > head.Seq
	return *head, nil
}

// SetHead sets the summary that Close writes to the run's head, as JSON. Without it, a
// session that appended records writes a head without a summary.
func (f *File) SetHead(summary []byte) { f.summary = bytes.Clone(summary) }

// saveHead writes the head of a session that ends, unless nothing changed or the journal
// failed.
func (f *File) saveHead() error {
	f.mu.Lock()
	head := Head{Run: f.run, Seq: f.seq, Chain: f.tail, Bytes: f.good, Summary: f.summary}
	needless := f.err != nil || f.seq == 0 || !f.wrote && f.summary == nil
	f.mu.Unlock()
	if needless {
		return nil
	}
	if err := f.home.writeHead(&head, false); err != nil {
		return fmt.Errorf("write the head of run %s (its journal is whole): %w", f.run, err)
	}
	return nil
}

// writeHead replaces the head atomically. A head that was not synced may be unreadable
// after a power loss, but never wrong.
func (h *Home) writeHead(head *Head, sync bool) error {
	head.Version = version
	b, err := head.encode()
	if err != nil {
		return err
	}
	return h.replace(filepath.Join(h.Folder(head.Run), headName), b, sync)
}

// replace writes a temporary file and renames it.
func (h *Home) replace(path string, b []byte, sync bool) error {
	temp := path + newSuffix
	f, err := regular.OpenFile(temp, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return full(err)
	}
	_, err = f.Write(b)
	if err == nil && sync {
		err = h.limitSync(func() error { return regular.Sync(f) })
	}
	if err = errors.Join(err, f.Close()); err == nil {
		failpoint.At(failpoint.HeadWritten)
		err = os.Rename(temp, path)
		failpoint.At(failpoint.HeadReplaced)
	}
	if err != nil {
		_ = os.Remove(temp)
	}
	return full(err)
}

// newSuffix is the suffix of the temporary file.
const newSuffix = ".new"

// A head ends with a checksum, so that a damaged head is not mistaken for a damaged
// journal.
const (
	sumMark = `,"sum":"`
	sumLen  = len(sumMark) + 16 + len("\"}\n")
)

func (d *Head) encode() ([]byte, error) {
	b, err := jsonvalue.Marshal(d)
	if err != nil {
		return nil, fmt.Errorf("encode head: %w", err)
	}
	return sealHead(b[:len(b)-1]), nil
}

func sealHead(b []byte) []byte {
	sum := Chain{}.next(b)
	return append(hex.AppendEncode(append(b, sumMark...), sum[:]), "\"}\n"...)
}

// readHead reads the head in a run's folder and also returns its bytes.
func readHead(dir, run string) (*Head, []byte, error) {
	path := filepath.Join(dir, headName)
	b, err := regular.ReadFile(path)
	if err == nil && len(b) == 0 { // not synced before a power loss
		err = fs.ErrNotExist
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, err
	}
	if err != nil {
		return nil, nil, fmt.Errorf("read head: %w", err)
	}
	head, err := parseHead(path, run, b)
	return head, b, err
}

// parseHead parses the head of a run; path is for error messages.
func parseHead(path, run string, b []byte) (*Head, error) {
	var head Head
	switch {
	case len(b) < sumLen || !bytes.Equal(sealHead(bytes.Clone(b[:len(b)-sumLen])), b), json.Unmarshal(b, &head) != nil:
		return nil, fmt.Errorf("%s: %w: the head is damaged", path, ErrCorrupt)
	case head.Version > version:
		return nil, fmt.Errorf("%s: %w: format %d, this program reads up to %d; use a later pexctl", path, ErrNewer, head.Version, version)
	case head.Run != run:
		return nil, fmt.Errorf("%s: %w: the head is that of run %q", path, ErrCorrupt, head.Run)
	}
	return &head, nil
}
