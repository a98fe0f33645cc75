package cassette

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

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
