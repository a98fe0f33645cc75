package journal

import (
	"encoding/hex"
	"fmt"
)

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
