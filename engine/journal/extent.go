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

// extent is how long a journal is known to have been, which the journal must still
// confirm. It is stored in the head of a finished session and in the run's lock file,
// where each durable commit replaces it. It is not synced itself: after a power loss it
// may be older than the journal or unreadable, but never newer. The zero value is
// unknown.
type extent struct {
	seq   uint64 // of the last record
	bytes int64  // of the complete lines
	chain Chain  // of the last line
}

// The lock file has the extent after the pid: seq, bytes and chain in hex, and a checksum
// over them and the run id.
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

// readExtent reads the extent from the lock file of a run.
func readExtent(dir, run string) extent {
	b, err := regular.ReadFile(filepath.Join(dir, lockName))
	if err != nil || len(b) < extentAt {
		return extent{}
	}
	return parseExtent(run, b[extentAt:])
}

// write replaces the extent. Best effort: a failure only means that less damage is
// detected.
func (m extent) write(lock *os.File, run string) {
	_, _ = lock.WriteAt(m.encode(run), extentAt)
	failpoint.At(failpoint.CommitMarked)
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
