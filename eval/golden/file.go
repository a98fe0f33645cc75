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

// maxFile is the maximum size of a golden file in bytes.
const maxFile = 16 << 20

// read returns a golden with normalized line endings. It does not block if the file is a pipe.
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
		return "", errors.New("not a regular file")
	case info.Size() > maxFile:
		return "", fmt.Errorf("larger than %d MiB", maxFile>>20)
	}
	text := make([]byte, info.Size())
	n, err := io.ReadFull(f, text)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return "", err
	}
	return plainText(string(text[:n])), nil
}

// write replaces a file atomically.
func (t *Tree) write(rel, text string) error {
	if t.strict {
		return ErrStrict
	}
	if err := t.replace(rel, text); err != nil {
		return fmt.Errorf("golden %s: cannot write it: %w", rel, withoutPath(err))
	}
	return nil
}

func (t *Tree) replace(rel, text string) error {
	if err := t.root.MkdirAll(filepath.Dir(rel), 0o755); err != nil {
		return err
	}
	next := tempName(rel)
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

// tempName returns a unique file name in the folder of rel.
func tempName(rel string) string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return filepath.Join(filepath.Dir(rel), "."+filepath.Base(rel)+"."+hex.EncodeToString(b[:])+".next")
}

// remove removes an unused golden, and its folders if they are empty then.
func (t *Tree) remove(rel string) error {
	if t.strict {
		return ErrStrict
	}
	if err := t.root.Remove(rel); err != nil {
		return fmt.Errorf("golden %s: cannot remove it: %w", rel, withoutPath(err))
	}
	const folders = 2 // tests/NAME/golden
	for range folders {
		if rel = filepath.Dir(rel); rel == "." || t.root.Remove(rel) != nil { // the folder is not empty
			break
		}
	}
	return nil
}
