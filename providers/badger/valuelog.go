package badger

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"path/filepath"

	"github.com/pexctl/pex/engine/regular"
)

// logHeaderSize is the size of the header of a Badger 4 value log file.
const logHeaderSize = 20

// checkLogs verifies the checksums of all entries in the value log files except the
// current one. Badger's rewrite treats a damaged entry as the end of a file, and then
// deletes the file with the values after it.
func (s *Store) checkLogs(ctx context.Context) error {
	files, err := list(s.dir)
	if err != nil {
		return err
	}
	var logs []string
	for _, name := range files {
		if filepath.Ext(name) == ".vlog" {
			logs = append(logs, name)
		}
	}
	for _, name := range logs[:max(len(logs)-1, 0)] {
		if err := ctx.Err(); err != nil {
			return err
		}
		raw, err := regular.ReadFile(filepath.Join(s.dir, name))
		if err != nil {
			return fmt.Errorf("read memory store: %w", err)
		}
		if at := firstDamage(raw); at >= 0 {
			return s.damaged(fmt.Sprintf("the entry at byte %[2]d of %[1]s has a wrong checksum", name, at), nil)
		}
	}
	return nil
}

// firstDamage returns the offset of the first invalid entry of a value log file, or -1.
// Zeros may follow the last entry.
func firstDamage(raw []byte) int {
	for at := logHeaderSize; at < len(raw); {
		size := entrySize(raw[at:])
		if size == 0 {
			if len(bytes.Trim(raw[at:], "\x00")) == 0 {
				return -1
			}
			return at
		}
		at += size
	}
	return -1
}

// entrySize returns the size of the entry at the start of raw, or 0 if it is incomplete:
// two bytes of flags, key length, value length and expiry as varints, key, value, and a
// checksum.
func entrySize(raw []byte) int {
	at := 2
	var numbers [3]uint64
	for i := range numbers {
		if at >= len(raw) {
			return 0
		}
		n, size := binary.Uvarint(raw[at:])
		if size <= 0 {
			return 0
		}
		numbers[i], at = n, at+size
	}
	limit := uint64(len(raw))
	if key, value := numbers[0], numbers[1]; key == 0 || key > limit || value > limit || uint64(at)+key+value+crc32.Size > limit {
		return 0
	}
	at += int(numbers[0] + numbers[1])
	if crc32.Checksum(raw[:at], castagnoli) != binary.BigEndian.Uint32(raw[at:]) {
		return 0
	}
	return at + crc32.Size
}
