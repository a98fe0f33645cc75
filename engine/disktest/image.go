package disktest

import (
	"bytes"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
)

// Image is the content of a directory at some point.
type Image []File

// File is a file or directory of an image.
type File struct {
	Path    string // below the watched directory
	Dir     bool
	Named   bool   // its directory entry is durable
	Exists  bool   // it exists as far as running programs see
	Synced  []byte // its durable content
	Written []byte // its content as far as running programs see
}

// Choice decides what of a file or directory exists after a power loss; nil = it does not
// exist. What is returned for a directory is not used otherwise.
type Choice func(File) []byte

// Durable is the Choice that keeps only what is durable.
func Durable(f File) []byte {
	if !f.Named {
		return nil
	}
	return append([]byte{}, f.Synced...)
}

// Written is the Choice that loses nothing: that of a killed process.
func Written(f File) []byte {
	if !f.Exists {
		return nil
	}
	return append([]byte{}, f.Written...)
}

// Partly returns a Choice that keeps what is durable and a random part of what was written
// later.
func Partly(r *rand.Rand) Choice {
	return func(f File) []byte {
		switch same := commonPrefix(f.Synced, f.Written); {
		case !f.Exists || !f.Named && r.IntN(2) == 0:
			return Durable(f)
		case same < len(f.Synced) && r.IntN(2) == 0: // truncated since
			return append([]byte{}, f.Synced...)
		default:
			return append([]byte{}, f.Written[:same+r.IntN(len(f.Written)-same+1)]...)
		}
	}
}

// Pages returns a Choice that keeps, of each file, any of the pages that were written after
// the last sync, and any of the lengths that it had or has. A page that was never on disk
// reads as zeros.
func Pages(r *rand.Rand, size int) Choice {
	return func(f File) []byte {
		if !f.Exists || !f.Named && r.IntN(2) == 0 {
			return Durable(f)
		}
		b := make([]byte, len(f.Synced)+r.IntN(abs(len(f.Written)-len(f.Synced))+1))
		if len(f.Written) < len(f.Synced) {
			b = b[:len(f.Synced)-r.IntN(len(f.Synced)-len(f.Written)+1)]
		}
		copy(b, f.Synced)
		for at := 0; at < len(b); at += size {
			if end := min(at+size, len(b), len(f.Written)); r.IntN(2) == 0 && at < end {
				copy(b[at:end], f.Written[at:end])
			}
		}
		return b
	}
}

// abs returns the absolute value of n.
func abs(n int) int { return max(n, -n) }

func commonPrefix(a, b []byte) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

// Write creates the files of an image in dir, which must be empty.
func (m Image) Write(dir string, choose Choice) error {
	for _, f := range m {
		path := filepath.Join(dir, f.Path)
		b := choose(f)
		if b == nil {
			continue
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		if f.Dir {
			if err := os.Mkdir(path, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
				return err
			}
			continue
		}
		if err := os.WriteFile(path, b, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// Equal reports whether the same is left of both images.
func (m Image) Equal(o Image, choose Choice) bool {
	left := map[string][]byte{}
	for _, f := range o {
		if b := choose(f); b != nil {
			left[f.Path] = b
		}
	}
	n := 0
	for _, f := range m {
		b := choose(f)
		if b == nil {
			continue
		}
		if other, found := left[f.Path]; !found || !bytes.Equal(b, other) {
			return false
		}
		n++
	}
	return n == len(left)
}

func (m Image) has(path string) bool {
	return slices.ContainsFunc(m, func(f File) bool { return f.Path == path })
}
