package badger

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/pexctl/pex/engine/regular"
)

// mark is what a file was when the store was closed. Tables that are damaged
// can end the whole process when Badger opens them, from a goroutine of its
// own, and a flipped byte in the manifest can make it drop tables without a
// word: both must be found before.
type mark struct {
	Name string `json:"name"`
	Size int64  `json:"size"`
	Sum  uint32 `json:"crc32c,omitempty"` // of files that are read as a whole anyway
}

// holdsData says whether a file is one of Badger's with something in it.
func holdsData(name string) bool {
	return summed(name) || filepath.Ext(name) == ".vlog" || filepath.Ext(name) == ".mem"
}

// summed says whether a mark has a checksum. Value log files have none: they
// may be large, and Badger checks each value that it reads.
func summed(name string) bool { return immutable(name) || name == "MANIFEST" || name == "KEYREGISTRY" }

// immutable says whether a file never changes while it is there.
func immutable(name string) bool { return filepath.Ext(name) == ".sst" }

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// marked is what a file is now.
func marked(dir, name string) (mark, error) {
	f, err := regular.Open(filepath.Join(dir, name))
	if err != nil {
		return mark{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return mark{}, err
	}
	m := mark{Name: name, Size: info.Size()}
	if !summed(name) {
		return m, nil
	}
	sum := crc32.New(castagnoli)
	if _, err := io.Copy(sum, f); err != nil {
		return mark{}, err
	}
	m.Sum = sum.Sum32()
	return m, nil
}

// differs says how a file is no longer what it was; "" = it is.
func (m mark) differs(dir string) (string, error) {
	now, err := marked(dir, m.Name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return m.Name + " is missing", nil
	case errors.Is(err, regular.ErrType):
		return m.Name + " is not a regular file", nil
	case err != nil:
		return "", err
	case now.Size != m.Size:
		return fmt.Sprintf("%s has %d bytes, it had %d", m.Name, now.Size, m.Size), nil
	case now.Sum != m.Sum:
		return m.Name + " has changed: its checksum is another", nil
	}
	return "", nil
}

// emptied says whether a file has nothing in it. Badger empties a table that it
// has merged into another before it removes it; one that its manifest still
// names does not open when it is empty, so a lease that was killed in between
// is no damage.
func emptied(dir, name string) bool {
	info, err := os.Stat(filepath.Join(dir, name))
	return err == nil && info.Size() == 0
}
