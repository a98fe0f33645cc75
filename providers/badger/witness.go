package badger

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"

	"github.com/pexctl/pex/engine/regular"
)

// witness counts the store's writes in a file of its own: a log that lost its
// end shows by it, also after a process that was killed. It is written after
// each write and not synced: after a power loss it may be behind, which only
// makes the next check less strict.
type witness struct {
	file  *os.File
	count uint64
}

// openWitness reads what was counted. A file that is not whole counts nothing.
func openWitness(dir string) (*witness, error) {
	f, err := regular.OpenFile(filepath.Join(dir, witnessFile), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open memory store: %w", err)
	}
	w := &witness{file: f}
	var raw [12]byte
	_, err = f.ReadAt(raw[:], 0)
	if err != nil && !errors.Is(err, io.EOF) {
		f.Close()
		return nil, fmt.Errorf("read memory store: %w", err)
	}
	if err == nil && crc32.ChecksumIEEE(raw[:8]) == binary.BigEndian.Uint32(raw[8:]) {
		w.count = binary.BigEndian.Uint64(raw[:8])
	}
	return w, nil
}

// note counts up to n.
func (w *witness) note(n uint64) error {
	raw := binary.BigEndian.AppendUint64(nil, n)
	raw = binary.BigEndian.AppendUint32(raw, crc32.ChecksumIEEE(raw))
	if _, err := w.file.WriteAt(raw, 0); err != nil {
		return fmt.Errorf("write %s: %w", witnessFile, err)
	}
	w.count = n
	return nil
}
