package journal

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"

	"github.com/pexctl/pex/engine/failpoint"
	"github.com/pexctl/pex/engine/jsonvalue"
)

// Head is a line of the index: how long the journal of a run is known to be, and a summary
// of the run. A journal cannot tell by itself that its last lines are lost; the head can.
// It also saves reading the journal for the summary. Every durable commit of a session
// appends one without a summary, and the end of the session one with it.
type Head struct {
	Version int             `json:"v"`
	Run     string          `json:"run_id"`
	Seq     uint64          `json:"seq"`   // of the last record; 0 = the run was removed
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

// Head returns a run's last head. The error wraps fs.ErrNotExist if there is none, and
// ErrCorrupt if it is unreadable, which does not harm the run.
func (h *Home) Head(run string) (Head, error) {
	if err := checkID(run); err != nil {
		return Head{}, err
	}
	w := h.witness(run)
	if w.err != nil {
		return Head{}, w.err
	}
	info, err := os.Stat(w.journal)
	w.head.Stale = err == nil && info.Size() > w.head.Bytes || w.extent.seq > w.head.Seq
	return *w.head, nil
}

// Heads returns the last heads of runs that have one which is readable. It does not
// compare them with the journals, so Stale is false. A head that has not changed is the
// same pointer in each result; the caller must not change it.
func (h *Home) Heads(runs []string) map[string]*Head { return h.index.heads(runs) }

// SetHead sets the summary that Close writes to the run's head, as JSON. Without it, a
// session that appended records writes a head without a summary.
func (f *File) SetHead(summary []byte) { f.summary = bytes.Clone(summary) }

// saveHead writes the head of a session that ends, unless nothing changed or the journal
// failed. With durability Async, that is done after the journal is synced, since a head
// must not say more than is durable.
func (f *File) saveHead() error {
	f.mu.Lock()
	head := Head{Run: f.run, Seq: f.seq, Chain: f.tail, Bytes: f.good, Summary: f.summary}
	needless := f.err != nil || f.seq == 0 || !f.wrote && f.summary == nil
	f.mu.Unlock()
	switch {
	case needless:
		return nil
	case f.home.durability == Async:
		f.home.background.add(lateSync{f.path, f.isNew, f, &head})
		return nil
	}
	return f.home.writeLastHead(&head)
}

// writeLastHead writes the head of a session that ends.
func (h *Home) writeLastHead(head *Head) error {
	if err := h.writeHead(head, false); err != nil {
		return fmt.Errorf("write the head of run %s (its journal is whole): %w", head.Run, err)
	}
	failpoint.At(failpoint.HeadWritten)
	return nil
}

// mark writes a head for what is durable now. Best effort: a failure only means that less
// damage is detected. The caller holds mu.
func (f *File) mark(m extent) {
	if f.closed {
		return
	}
	_ = f.home.writeHead(&Head{Run: f.run, Seq: m.seq, Chain: m.chain, Bytes: m.bytes}, false)
	failpoint.At(failpoint.CommitMarked)
}

// writeHead appends a head to the index.
func (h *Home) writeHead(head *Head, sync bool) error {
	line, err := head.encode()
	if err != nil {
		return err
	}
	return h.index.append(line, sync)
}

// A head ends with a checksum, so that a damaged head is not mistaken for a damaged
// journal.
const (
	sumMark = `,"sum":"`
	sumLen  = len(sumMark) + 16 + len("\"}\n")
)

func (d *Head) encode() ([]byte, error) {
	d.Version = version
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

// parseHead parses the head of a run, with its newline; path is for error messages.
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

// extent is how long a journal is known to have been, which the journal must still
// confirm. After a power loss it may be older than the journal, or lost, but never newer.
// The zero value is unknown.
type extent struct {
	seq   uint64 // of the last record
	bytes int64  // of the complete lines
	chain Chain  // of the last line
}

// maxExtent returns the extent with more records.
func maxExtent(a, b extent) extent {
	if b.seq > a.seq {
		return b
	}
	return a
}

// verify reports what an otherwise valid journal has lost. Since each hash covers all
// lines before it, comparing one is enough.
func (m extent) verify(b []byte, c Contents) error {
	if m.seq == 0 {
		return nil
	}
	if n := uint64(len(c.Records)); n < m.seq {
		return fmt.Errorf("%w: it ends with record %d, seq %d to %d are missing", ErrCorrupt, n, n+1, m.seq)
	}
	end := m.bytes - 1 // of the line, without its newline
	if end < int64(chainMarkLen) || end > int64(len(b)) {
		return fmt.Errorf("%w: record %d does not end at byte %d", ErrCorrupt, m.seq, m.bytes)
	}
	if hex.EncodeToString(m.chain[:]) != string(b[end-18:end-2]) {
		return fmt.Errorf("%w: record %d is not the one that was written", ErrCorrupt, m.seq)
	}
	return nil
}
