package journal

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/pexctl/pex/engine/regular"
)

// Files of a run in homes of earlier versions, all in its folder. Such a run is read in
// place, and moved when a session or a repair opens it.
const (
	oldJournal = "journal.jsonl"
	oldHead    = "run.json" // the head of the last session that ended
	oldLock    = "lock"     // locked by the session; with its pid and the extent of its last commit
)

// oldWitness reads the head and the lock file in a run's folder.
func (h *Home) oldWitness(run string) witness {
	dir := h.Folder(run)
	w := witness{journal: filepath.Join(dir, oldJournal), file: filepath.Join(dir, oldHead)}
	w.line, w.err = regular.ReadFile(w.file)
	switch {
	case w.err == nil && len(w.line) == 0: // not synced before a power loss
		w.err = fs.ErrNotExist
	case w.err == nil:
		w.head, w.err = parseHead(w.file, run, w.line)
	case !errors.Is(w.err, fs.ErrNotExist):
		w.err = fmt.Errorf("read head: %w", w.err)
	}
	w.extent = maxExtent(w.head.extent(), readOldExtent(dir, run))
	return w
}

// isOld reports whether a run has a journal or a head in its folder.
func (h *Home) isOld(run string) bool {
	if !exists(h.Folder(run)) {
		return false
	}
	if exists(filepath.Join(h.Folder(run), oldJournal)) {
		return true
	}
	w := h.oldWitness(run)
	return w.hadRecord()
}

// existsInFolder reports whether a run has a record in its folder, or had one.
func (h *Home) existsInFolder(run string) bool {
	w := h.oldWitness(run)
	return hasRecord(w.journal) || w.hadRecord()
}

// adoptOld moves a run from its folder to the present layout. A kill in between leaves it
// in one of the two: the journal is moved at once, and its head is in the index before.
// It returns an *InUseError if an earlier version of the program executes the run.
func (h *Home) adoptOld(run string) error {
	dir := h.Folder(run)
	lock, err := acquire(filepath.Join(dir, oldLock), run)
	if errors.Is(err, fs.ErrNotExist) && exists(h.path(run)) {
		return nil // another process has moved it
	}
	if err != nil {
		return err
	}
	defer release(lock)
	w := h.oldWitness(run)
	if !exists(w.journal) {
		if exists(h.path(run)) {
			return nil
		}
		return missingJournal(run, w.journal, w.extent)
	}
	if errors.Is(w.err, ErrNewer) {
		return w.err
	}
	if w.extent.seq > 0 {
		head := Head{Run: run, Seq: w.extent.seq, Chain: w.extent.chain, Bytes: w.extent.bytes}
		if w.head != nil && w.head.Seq == w.extent.seq {
			head.Summary = w.head.Summary
		}
		if err := h.writeHead(&head, true); err != nil {
			return fmt.Errorf("move run %s: %w", run, err)
		}
	}
	if err := os.Rename(w.journal, h.path(run)); err != nil {
		return fmt.Errorf("move run %s: %w", run, err)
	}
	if err := regular.SyncDir(h.runs); err != nil {
		return fmt.Errorf("move run %s: %w", run, err)
	}
	_ = os.Remove(w.file)
	_ = os.Remove(lock.Name())
	_ = os.Remove(dir) // unless it has other files, such as a log
	return nil
}

// The old lock file has the extent after the pid: seq, bytes and chain in hex, and a
// checksum over them and the run id.
const (
	extentAt   = 11
	extentSize = 3*17 + 9
)

func (m extent) encode(run string) []byte {
	b := make([]byte, 0, extentSize)
	for _, n := range []uint64{m.seq, uint64(m.bytes), binary.BigEndian.Uint64(m.chain[:])} {
		b = append(hex.AppendEncode(b, binary.BigEndian.AppendUint64(nil, n)), ' ')
	}
	sum := crc32.Update(crc32.ChecksumIEEE(b), crc32.IEEETable, []byte(run))
	return append(hex.AppendEncode(b, binary.BigEndian.AppendUint32(nil, sum)), '\n')
}

// parseExtent parses the output of encode; it returns the zero extent for anything else.
func parseExtent(run string, b []byte) extent {
	var m extent
	if len(b) < extentSize {
		return m
	}
	raw := make([]byte, 0, 24)
	for i := 0; i < 3*17; i += 17 {
		var err error
		if raw, err = hex.AppendDecode(raw, b[i:i+16]); err != nil {
			return m
		}
	}
	m = extent{seq: binary.BigEndian.Uint64(raw), bytes: int64(binary.BigEndian.Uint64(raw[8:])), chain: Chain(raw[16:])}
	if string(m.encode(run)) != string(b[:extentSize]) {
		return extent{}
	}
	return m
}

// readOldExtent reads the extent from the lock file in a run's folder.
func readOldExtent(dir, run string) extent {
	b, err := regular.ReadFile(filepath.Join(dir, oldLock))
	if err != nil || len(b) < extentAt {
		return extent{}
	}
	return parseExtent(run, b[extentAt:])
}
