package journal

import (
	"bytes"
	"errors"
	"fmt"
)

// ErrCorrupt reports a missing, duplicate or damaged line.
var ErrCorrupt = errors.New("journal is corrupt")

// Contents is the decoded content of a journal.
type Contents struct {
	Records []Record // their bodies alias the decoded bytes
	Good    int      // length of the complete lines; the rest is a torn last line
	Tail    Chain    // of the last complete line
}

// Decode verifies and decodes a whole journal. With an error it returns the records
// before the damage; the error names the line, offset and sequence numbers.
func Decode(b []byte) (c Contents, err error) {
	c.Records = make([]Record, 0, bytes.Count(b, []byte{'\n'})+1)
	for seq := uint64(1); c.Good < len(b); seq++ {
		line, _, ended := bytes.Cut(b[c.Good:], []byte{'\n'})
		r, next, err := readRecord(line, seq, c.Tail, version)
		if err != nil && !ended && torn(line, c.Tail) {
			break
		}
		if err != nil {
			return c, fmt.Errorf("line %d (byte %d): %w", seq, c.Good, err)
		}
		c.Records, c.Tail, c.Good = append(c.Records, r), next, c.Good+len(line)
		if ended {
			c.Good++
		}
	}
	return c, nil
}

// readRecord verifies and parses the line that must have sequence number seq and follow
// tail, in a format up to newest. The record's body aliases the line.
func readRecord(line []byte, seq uint64, tail Chain, newest uint64) (Record, Chain, error) {
	next, ok := verify(line, tail)
	rec, err := parse(line, newest)
	return rec, next, judge(ok, err, seq, rec.Seq)
}

// judge returns what is wrong with a line that must have sequence number want: whether
// its chain is intact, the error of parsing it, and the sequence number in it.
func judge(intact bool, err error, want, got uint64) error {
	switch {
	case !intact:
		return damage(want, got)
	case err == nil && got != want:
		return fmt.Errorf("%w: the line says seq %d", ErrCorrupt, got)
	case err != nil && !errors.Is(err, ErrNewer):
		return fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	return err
}

func damage(want, got uint64) error {
	if got > want {
		return fmt.Errorf("%w: seq %d to %d missing or damaged", ErrCorrupt, want, got-1)
	}
	return fmt.Errorf("%w: the line is damaged or does not belong here", ErrCorrupt)
}
