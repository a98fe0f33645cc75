package journal

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"

	"github.com/pexctl/pex/engine/failpoint"
	"github.com/pexctl/pex/engine/regular"
)

// extent is how far a journal is known to have gone: a witness that the journal
// must still bear out. It is in the head of a session that ended, and in the
// run's lock file, where each commit replaces it once the commit is durable. It
// is not synced itself: after a power loss it may be older than the journal or
// unreadable, never newer. The zero value is none.
type extent struct {
	seq   uint64 // of the last record
	bytes int64  // of the whole lines
	chain Chain  // of the last line
}

// An extent is in the lock file behind the pid: seq, bytes and chain in hex and a
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

// parseExtent reads what encode writes; anything else is no extent.
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

// readExtent reads the extent in the lock file of a run.
func readExtent(dir, run string) extent {
	b, err := regular.ReadFile(filepath.Join(dir, lockName))
	if err != nil || len(b) < extentAt {
		return extent{}
	}
	return parseExtent(run, b[extentAt:])
}

// write replaces the extent. That it fails only makes the witness weaker.
func (m extent) write(lock *os.File, run string) {
	_, _ = lock.WriteAt(m.encode(run), extentAt)
	failpoint.At(failpoint.CommitMarked)
}

// furthest is the extent that says more.
func furthest(a, b extent) extent {
	if b.seq > a.seq {
		return b
	}
	return a
}

// against says what a journal that is whole in itself has lost. Each line holds
// a hash of all before it: where one is as it was, all are.
func (m extent) against(b []byte, c Contents) error {
	if m.seq == 0 {
		return nil
	}
	if n := uint64(len(c.Records)); n < m.seq {
		return fmt.Errorf("%w: it ends with record %d, seq %d to %d are missing", ErrCorrupt, n, n+1, m.seq)
	}
	end := m.bytes - 1 // of the line, before its newline
	if end < int64(markLen) || end > int64(len(b)) {
		return fmt.Errorf("%w: record %d does not end at byte %d", ErrCorrupt, m.seq, m.bytes)
	}
	if hex.EncodeToString(m.chain[:]) != string(b[end-18:end-2]) {
		return fmt.Errorf("%w: record %d is not the one that was written", ErrCorrupt, m.seq)
	}
	return nil
}
