package cassette

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/secret"
)

// Export writes the cassette of a run. If it contains secrets nothing is written and the
// error is a *Refused with all findings.
func Export(w io.Writer, records []journal.Record, secrets *secret.Values) error {
	b, err := encodeAll(records, secrets)
	if err != nil {
		return err
	}
	if _, err := w.Write(b); err != nil {
		return fmt.Errorf("export: %w", err)
	}
	return nil
}

// Save is Export to a file, which is replaced atomically.
func Save(path string, records []journal.Record, secrets *secret.Values) error {
	b, err := encodeAll(records, secrets)
	if err != nil {
		return err
	}
	if err := writeFile(path, b); err != nil {
		return fmt.Errorf("export to %s: %w", path, err)
	}
	return nil
}

func writeFile(path string, b []byte) error {
	d, err := newTempFile(path)
	if err != nil {
		return err
	}
	if err := d.write(b); err != nil {
		d.discard()
		return err
	}
	return d.commit()
}

func encodeAll(records []journal.Record, secrets *secret.Values) ([]byte, error) {
	p := encoder{secrets: secrets}
	b, err := p.lines(nil, records)
	if err != nil {
		return nil, fmt.Errorf("export: %w", err)
	}
	return b, p.refused()
}

// tempFile is a file that replaces another one when it is complete.
type tempFile struct {
	file   *os.File
	target string
}

// newTempFile creates a temporary file next to path.
func newTempFile(path string) (*tempFile, error) {
	place := path
	switch info, err := os.Stat(path); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s exists and is not a regular file", path)
	default:
		if place, err = filepath.EvalSymlinks(path); err != nil {
			return nil, err
		}
	}
	f, err := os.CreateTemp(filepath.Dir(place), "."+filepath.Base(place)+".*.part")
	if err != nil {
		return nil, err
	}
	return &tempFile{f, place}, nil
}

func (d *tempFile) write(b []byte) error {
	_, err := d.file.Write(b)
	return err
}

// restart empties the file.
func (d *tempFile) restart() error {
	if err := d.file.Truncate(0); err != nil {
		return err
	}
	_, err := d.file.Seek(0, io.SeekStart)
	return err
}

// commit renames the file to its target, or removes it on error.
func (d *tempFile) commit() error {
	err := d.file.Close()
	if err == nil {
		err = os.Rename(d.file.Name(), d.target)
	}
	if err != nil {
		_ = os.Remove(d.file.Name()) // the first error is returned
	}
	return err
}

// discard removes the file.
func (d *tempFile) discard() {
	_ = d.file.Close() // the content is not needed
	_ = os.Remove(d.file.Name())
}
