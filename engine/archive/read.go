package archive

import (
	"archive/tar"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"path"
	"path/filepath"
)

// ErrDamaged says that an archive was cut or changed, or is none.
var ErrDamaged = errors.New("the archive is damaged")

// maxManifest bounds what is read of a manifest: a million files and more.
const maxManifest = 512 << 20

// Read hands the files of an archive on, one after another, and then holds them
// against the manifest. What each was given before an error is not to be
// trusted: put it where it can be thrown away. An error of each ends the
// reading; what it leaves unread is read for it.
func Read(r io.Reader, each func(f File, r io.Reader) error) (Manifest, error) {
	t := tar.NewReader(r)
	var found []File
	for {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			return Manifest{}, fmt.Errorf("%w: it was cut, its manifest is missing", ErrDamaged)
		}
		if err != nil {
			return Manifest{}, broken(err)
		}
		if h.Name == manifestName {
			return last(t, found)
		}
		if h.Typeflag != tar.TypeReg || !allowed(h.Name) {
			return Manifest{}, fmt.Errorf("%w: %q does not belong into one", ErrDamaged, h.Name)
		}
		f := File{Name: h.Name, Size: h.Size, Time: h.ModTime}
		if err := pass(t, &f, each); err != nil {
			return Manifest{}, err
		}
		found = append(found, f)
	}
}

// pass hands one file on and notes its hash.
func pass(t *tar.Reader, f *File, each func(File, io.Reader) error) error {
	hash := sha256.New()
	in := &source{r: io.TeeReader(t, hash)}
	if err := each(*f, in); err != nil && in.err == nil {
		return err
	}
	if _, err := io.Copy(io.Discard, in); err != nil {
		return broken(err)
	}
	f.SHA256 = hex.EncodeToString(hash.Sum(nil))
	return nil
}

// source remembers why it could not be read, whatever its reader makes of it.
type source struct {
	r   io.Reader
	err error
}

func (s *source) Read(b []byte) (int, error) {
	n, err := s.r.Read(b)
	if err != nil && !errors.Is(err, io.EOF) {
		s.err = err
	}
	return n, err
}

// last reads the manifest, behind which nothing may come.
func last(t *tar.Reader, found []File) (Manifest, error) {
	m, err := readManifest(io.LimitReader(t, maxManifest), found)
	if err != nil {
		return m, err
	}
	if _, err := t.Next(); !errors.Is(err, io.EOF) {
		return m, fmt.Errorf("%w: something follows its manifest", ErrDamaged)
	}
	return m, nil
}

// broken tells a stream that ends or reads wrongly from one that cannot be read.
func broken(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, tar.ErrHeader) {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return fmt.Errorf("read archive: %w", err)
}

// allowed says that a name stays below the folder it is unpacked to.
func allowed(name string) bool {
	return filepath.IsLocal(filepath.FromSlash(name)) && path.Clean(name) == name && name != manifestName
}
