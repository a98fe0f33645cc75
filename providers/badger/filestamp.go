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

// fileStamp is the state of a file when the store was closed. Opening damaged tables can
// crash the process from one of Badger's goroutines, and a flipped byte in the manifest
// can make Badger silently drop tables, so both must be detected before.
type fileStamp struct {
	Name string `json:"name"`
	Size int64  `json:"size"`
	Sum  uint32 `json:"crc32c,omitempty"` // of files that are read completely anyway
}

// isDataFile reports whether a file is one of Badger's data files.
func isDataFile(name string) bool {
	return hasChecksum(name) || filepath.Ext(name) == ".vlog" || filepath.Ext(name) == ".mem"
}

// hasChecksum reports whether a stamp has a checksum. Value log files have none: they may be
// large, and Badger verifies each value it reads.
func hasChecksum(name string) bool {
	return immutable(name) || name == "MANIFEST" || name == "KEYREGISTRY"
}

// immutable reports whether a file never changes while it exists.
func immutable(name string) bool { return filepath.Ext(name) == ".sst" }

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// stampFile returns the current stamp of a file.
func stampFile(dir, name string) (fileStamp, error) {
	f, err := regular.Open(filepath.Join(dir, name))
	if err != nil {
		return fileStamp{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return fileStamp{}, err
	}
	m := fileStamp{Name: name, Size: info.Size()}
	if !hasChecksum(name) {
		return m, nil
	}
	sum := crc32.New(castagnoli)
	if _, err := io.Copy(sum, f); err != nil {
		return fileStamp{}, err
	}
	m.Sum = sum.Sum32()
	return m, nil
}

// difference returns how a file differs from its stamp; "" = it does not.
func (m fileStamp) difference(dir string) (string, error) {
	now, err := stampFile(dir, m.Name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return m.Name + " is missing", nil
	case errors.Is(err, regular.ErrType):
		return m.Name + " is not a regular file", nil
	case err != nil:
		return "", err
	case now.Size != m.Size:
		return fmt.Sprintf("%s has %d bytes instead of %d", m.Name, now.Size, m.Size), nil
	case now.Sum != m.Sum:
		return m.Name + " has a wrong checksum", nil
	}
	return "", nil
}

// isEmpty reports whether a file is empty. Badger empties a merged table before it
// removes it, and cannot open an empty table that the manifest still names, so an empty
// one left by a killed process is not damage.
func isEmpty(dir, name string) bool {
	info, err := os.Stat(filepath.Join(dir, name))
	return err == nil && info.Size() == 0
}
