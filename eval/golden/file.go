package golden

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
)

// maxFile bounds what is read of a golden.
const maxFile = 16 << 20

// read reads a golden, its line ends made plain. A pipe that took its place is
// never waited for.
func (t *Tree) read(rel string) (string, error) {
	f, err := t.root.OpenFile(rel, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return "", err
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return "", err
	case !info.Mode().IsRegular():
		return "", errors.New("it is no regular file")
	case info.Size() > maxFile:
		return "", fmt.Errorf("it is larger than %d MiB", maxFile>>20)
	}
	text := make([]byte, info.Size())
	n, err := io.ReadFull(f, text)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return "", err
	}
	return plainText(string(text[:n])), nil
}

// write puts a text in a file's place at once.
func (t *Tree) write(rel, text string) error {
	if t.strict {
		return ErrStrict
	}
	if err := t.replace(rel, text); err != nil {
		return fmt.Errorf("golden %s is not written: %w", rel, plain(err))
	}
	return nil
}

func (t *Tree) replace(rel, text string) error {
	if err := t.root.MkdirAll(filepath.Dir(rel), 0o755); err != nil {
		return err
	}
	next := besides(rel)
	f, err := t.root.OpenFile(next, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	if err = errors.Join(err, f.Close()); err == nil {
		err = t.root.Rename(next, rel)
	}
	if err != nil {
		_ = t.root.Remove(next)
	}
	return err
}

// besides is a name in a file's folder that nobody else uses.
func besides(rel string) string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // it never fails
	return filepath.Join(filepath.Dir(rel), "."+filepath.Base(rel)+"."+hex.EncodeToString(b[:])+".next")
}

// remove removes a golden that nobody asks for, and its folders where that
// leaves them empty.
func (t *Tree) remove(rel string) error {
	if t.strict {
		return ErrStrict
	}
	if err := t.root.Remove(rel); err != nil {
		return fmt.Errorf("golden %s is not removed: %w", rel, plain(err))
	}
	const folders = 2 // tests/NAME/golden
	for range folders {
		if rel = filepath.Dir(rel); rel == "." || t.root.Remove(rel) != nil { // nothing else is in it
			break
		}
	}
	return nil
}
