package badger

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"

	"github.com/pexctl/pex/engine/memory"
)

// inboxVersion is the version of the lines of an inbox.
const inboxVersion = 1

// inboxLine is one append. In the file it is JSON behind its CRC-32C in hexadecimal, on a
// line of its own.
type inboxLine struct {
	Version int               `json:"v"`
	Tenant  string            `json:"tenant,omitempty"`
	Records []json.RawMessage `json:"records"` // as in the store
}

// sumDigits is the number of digits of a line's checksum, which a space follows.
const sumDigits = 2 * crc32.Size

// encodeLine encodes additions of one tenant as a line of an inbox.
func encodeLine(tenant string, additions []addition) ([]byte, error) {
	line := inboxLine{Version: inboxVersion, Tenant: tenant}
	for _, a := range additions {
		line.Records = append(line.Records, a.raw)
	}
	text, err := json.Marshal(line)
	if err != nil {
		return nil, fmt.Errorf("encode a line of the inbox: %w", err)
	}
	out := hex.AppendEncode(nil, binary.BigEndian.AppendUint32(nil, crc32.Checksum(text, castagnoli)))
	return append(append(append(out, ' '), text...), '\n'), nil
}

// A newerLineError reports a line that a later version of pexctl wrote.
type newerLineError int

func (e newerLineError) Error() string {
	return fmt.Sprintf("version %d is newer than the supported version %d", int(e), inboxVersion)
}

// errChecksum reports a line that is not as it was written.
var errChecksum = errors.New("wrong checksum")

// decodeLine decodes a line without its newline.
func decodeLine(raw []byte) ([]addition, error) {
	if len(raw) <= sumDigits || raw[sumDigits] != ' ' {
		return nil, errChecksum
	}
	sum, err := hex.DecodeString(string(raw[:sumDigits]))
	text := raw[sumDigits+1:]
	if err != nil || binary.BigEndian.Uint32(sum) != crc32.Checksum(text, castagnoli) {
		return nil, errChecksum
	}
	var line inboxLine
	if err := json.Unmarshal(text, &line); err != nil {
		return nil, err
	}
	if line.Version > inboxVersion {
		return nil, newerLineError(line.Version)
	}
	out := make([]addition, 0, len(line.Records))
	for _, record := range line.Records {
		var in memory.Interaction
		if in, err = decodeRecord(record); err != nil {
			return nil, err
		}
		a := addition{address{line.Tenant, in.MemoryID}, in.ID, record}
		if err := a.check(); err != nil {
			return nil, err
		}
		out = append(out, a)
	}
	return out, nil
}

// extent describes the acknowledged part of an inbox. It is stored in the lock file, so
// that an inbox that lost its end is not mistaken for a shorter one.
type extent struct {
	known  bool // otherwise every line counts as acknowledged
	length int64
	sum    uint32 // CRC-32C of that part
}

// extentSize is the size of an encoded extent.
const extentSize = 16

func (e extent) encode() []byte {
	raw := binary.BigEndian.AppendUint64(nil, uint64(e.length))
	raw = binary.BigEndian.AppendUint32(raw, e.sum)
	return binary.BigEndian.AppendUint32(raw, crc32.ChecksumIEEE(raw))
}

// decodeExtent decodes an extent; one that is missing or damaged is unknown.
func decodeExtent(raw []byte) extent {
	if len(raw) != extentSize || crc32.ChecksumIEEE(raw[:12]) != binary.BigEndian.Uint32(raw[12:]) {
		return extent{}
	}
	return extent{true, int64(binary.BigEndian.Uint64(raw)), binary.BigEndian.Uint32(raw[8:])}
}

// add returns the extent after line was appended.
func (e extent) add(line []byte) extent {
	return extent{true, e.length + int64(len(line)), crc32.Update(e.sum, castagnoli, line)}
}

// inboxDamage describes damage to an inbox, and how to continue without what is lost.
type inboxDamage struct{ what, fix string }

func (e *inboxDamage) Error() string { return e.what }

// parseInbox returns the lines of an inbox and their extent. A line that was written only
// partly, which is never acknowledged, ends it; anything else that is not a valid line is
// damage.
func parseInbox(raw []byte, acked extent) ([][]addition, extent, error) {
	const restart = "restore a backup, or delete " + inboxLock + " to continue with the lines that are left"
	if acked.known && int64(len(raw)) < acked.length {
		return nil, extent{}, &inboxDamage{fmt.Sprintf("%s has %d bytes instead of %d", inboxFile, len(raw), acked.length), restart}
	}
	var lines [][]addition
	all := extent{known: true}
	for all.length < int64(len(raw)) {
		line, _, ended := bytes.Cut(raw[all.length:], []byte{'\n'})
		additions, err := decodeLine(line)
		if !ended {
			err = errChecksum
		}
		if newer, ok := errors.AsType[newerLineError](err); ok {
			return nil, extent{}, newer
		}
		if err != nil && all.length >= acked.length && !hasLine(raw[all.length:]) {
			break
		}
		if err != nil {
			what := fmt.Sprintf("line %d of %s (byte %d): %v", len(lines)+1, inboxFile, all.length, err)
			return nil, extent{}, &inboxDamage{what, "restore a backup, or delete that line and " + inboxLock + " to continue without it"}
		}
		lines = append(lines, additions)
		all = all.add(raw[all.length : all.length+int64(len(line))+1])
	}
	if acked.known && crc32.Checksum(raw[:acked.length], castagnoli) != acked.sum {
		return nil, extent{}, &inboxDamage{inboxFile + " has a wrong checksum", restart}
	}
	return lines, all, nil
}

// hasLine reports whether a valid line follows an invalid one.
func hasLine(raw []byte) bool {
	for ended := true; ended; {
		var line []byte
		line, raw, ended = bytes.Cut(raw, []byte{'\n'})
		if _, err := decodeLine(line); ended && err == nil {
			return true
		}
	}
	return false
}
