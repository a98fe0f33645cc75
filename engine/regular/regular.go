package regular

import (
	"errors"
	"io"
	"io/fs"
	"os"
)

// ErrType is wrapped by the error for a file that is not regular.
var ErrType = errors.New("not a regular file")

// Open opens a file for reading, as os.Open does.
func Open(path string) (*os.File, error) { return OpenFile(path, os.O_RDONLY, 0) }

// OpenFile is os.OpenFile for regular files. It never blocks: for anything else the error
// is a *fs.PathError that wraps ErrType, and nothing is changed.
func OpenFile(path string, how int, perm fs.FileMode) (*os.File, error) {
	f, err := os.OpenFile(path, how&^os.O_TRUNC|nonblock, perm)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: path, Err: ErrType}
	}
	if err == nil && how&os.O_TRUNC != 0 {
		err = f.Truncate(0)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// ReadFile reads a whole file, as os.ReadFile does.
func ReadFile(path string) ([]byte, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	b := make([]byte, 0, info.Size()+1)
	for {
		n, err := f.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		if errors.Is(err, io.EOF) {
			return b, nil
		}
		if err != nil {
			return b, err
		}
		if len(b) == cap(b) {
			b = append(b, 0)[:len(b)]
		}
	}
}
