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

// Export writes the cassette of a run. Nothing is written when it is refused:
// the error is a *Refused with all that was found.
func Export(w io.Writer, records []journal.Record, secrets *secret.Values) error {
	b, err := pressAll(records, secrets)
	if err != nil {
		return err
	}
	if _, err := w.Write(b); err != nil {
		return fmt.Errorf("export: %w", err)
	}
	return nil
}

// Save is Export to a file, which is there whole or, after an error, as it was
// before.
func Save(path string, records []journal.Record, secrets *secret.Values) error {
	b, err := pressAll(records, secrets)
	if err != nil {
		return err
	}
	if err := put(path, b); err != nil {
		return fmt.Errorf("export to %s: %w", path, err)
	}
	return nil
}

func put(path string, b []byte) error {
	d, err := begin(path)
	if err != nil {
		return err
	}
	if err := d.write(b); err != nil {
		d.drop()
		return err
	}
	return d.place()
}

func pressAll(records []journal.Record, secrets *secret.Values) ([]byte, error) {
	p := press{secrets: secrets}
	b, err := p.lines(nil, records)
	if err != nil {
		return nil, fmt.Errorf("export: %w", err)
	}
	return b, p.refused()
}

// draft is a file that is not yet in its place.
type draft struct {
	file   *os.File
	target string
}

// begin makes a draft beside the place of the file.
func begin(path string) (*draft, error) {
	place := path
	switch info, err := os.Stat(path); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is there and is no file", path)
	default:
		if place, err = filepath.EvalSymlinks(path); err != nil {
			return nil, err
		}
	}
	f, err := os.CreateTemp(filepath.Dir(place), "."+filepath.Base(place)+".*.part")
	if err != nil {
		return nil, err
	}
	return &draft{f, place}, nil
}

func (d *draft) write(b []byte) error {
	_, err := d.file.Write(b)
	return err
}

// restart empties the draft.
func (d *draft) restart() error {
	if err := d.file.Truncate(0); err != nil {
		return err
	}
	_, err := d.file.Seek(0, io.SeekStart)
	return err
}

// place puts the draft in its place, or drops it.
func (d *draft) place() error {
	err := d.file.Close()
	if err == nil {
		err = os.Rename(d.file.Name(), d.target)
	}
	if err != nil {
		_ = os.Remove(d.file.Name()) // the first error tells
	}
	return err
}

// drop leaves nothing.
func (d *draft) drop() {
	_ = d.file.Close() // nobody wants it
	_ = os.Remove(d.file.Name())
}
